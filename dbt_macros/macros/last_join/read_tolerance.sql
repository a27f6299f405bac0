{# `tolerance` of as_of as SQL that follows a time, such as ' - 3' or ' - interval 2 hour'; none if it is not given. A 0 becomes '', which
   fits any type. #}
{% macro read_tolerance(macro, value) %}
  {%- if value is none -%}{{ return(none) }}{%- endif -%}
  {%- set is_amount = value is number and value is not boolean and value >= 0 -%}
  {%- set sql = value | string if is_amount else joinery.read_interval(value) if value is string -%}
  {%- if not sql -%}
    {%- do joinery.fail(macro, 'as_of', "tolerance must be a number from 0 or an interval such as '2 hours' ("
      ~ joinery.interval_units() | join(', ') ~ "), but is " ~ joinery.shown(value)) -%}
  {%- endif -%}
  {{ return('' if is_amount and value == 0 else ' - ' ~ sql) }}
{% endmacro %}

{# Fails if a number without a unit would be subtracted from a timestamp. A CTE passes, as dbt does not know its types. #}
{% macro check_tolerance(macro, as_of, left, left_types) %}
  {%- if not as_of or not as_of.tolerance or 'interval' in as_of.tolerance -%}{{ return('') }}{%- endif -%}
  {%- if 'timestamp' in (joinery.type_of(left_types or joinery.column_types(left), as_of.left) or '') -%}
    {%- do joinery.fail(macro, 'as_of', "tolerance must be an interval such as '2 hours' where `" ~ as_of.left ~ "` is a timestamp, but is "
      ~ as_of.tolerance[3:]) -%}
  {%- endif -%}
{% endmacro %}
