{# A window over only the rows that frames of a batch reach: from the start of the batch, less PRECEDING, to its end, plus FOLLOWING. This
   needs an order by the event time; other windows read the whole relation. filter: dbt's, with field_name, start and end. #}
{% macro batch_window(window, types, filter) %}
  {%- set first, following = window.order[0], window.frame.following -%}
  {%- set type = joinery.type_of(types, first.column) -%}
  {%- if not joinery.same_name(filter.field_name | replace('`', ''), first.column) or first.direction != 'asc'
      or type not in ['date', 'timestamp', 'timestamp_ntz'] or following == 'unbounded'
      or (window.frame.type == 'rows' and following) -%}
    {{ return(window) }}
  {%- endif -%}
  {%- if filter.end -%}
    {%- set time = joinery.quoted(first.column) -%}
    {%- set end = "cast('" ~ filter.end ~ "' as " ~ type ~ ')' ~ joinery.halo_offset(following, '+') -%}
    {%- set window = dict(window, relation='(select * from ' ~ window.relation ~ ' where ' ~ time ~ ' < ' ~ end ~ ' or ' ~ time ~ ' is null)') -%}
  {%- endif -%}
  {%- if filter.start -%}
    {%- set window = dict(window, relation=joinery.with_halo(window, "cast('" ~ filter.start ~ "' as " ~ type ~ ')')) -%}
  {%- endif -%}
  {{ return(window) }}
{% endmacro %}
