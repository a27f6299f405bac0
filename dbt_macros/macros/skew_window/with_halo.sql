{# The rows of a window from the watermark on, and the older rows that their frames reach: under ROWS the last rows of each key, under
   RANGE the rows within the offset. #}
{% macro with_halo(window, watermark) %}
  {%- set time = window.order[0].column -%}
  {%- set reach = window.frame.preceding -%}
  {%- if reach == 'unbounded' -%}
    {{ return(window.relation) }}
  {%- elif window.frame.type == 'range' -%}
    {{ return('(select * from ' ~ window.relation ~ ' where ' ~ joinery.is_new(time, watermark ~ joinery.halo_offset(reach, '-')) ~ ')') }}
  {%- endif -%}
  {%- set is_new = joinery.is_new(time, watermark) -%}
  {%- set keys = (window.key_columns + [joinery.quoted(time) ~ ' >= ' ~ watermark]) | join(', ') -%}
  {{ return('(select __joinery_row.* from (select struct(*) as __joinery_row, row_number() over (partition by ' ~ keys ~ ' order by '
    ~ joinery.order_sql(window.order, window.order_columns, reversed=true) ~ ') as __joinery_age, ' ~ is_new ~ ' as __joinery_is_new from '
    ~ window.relation ~ ') where __joinery_is_new or __joinery_age <= ' ~ reach ~ ')') }}
{% endmacro %}
