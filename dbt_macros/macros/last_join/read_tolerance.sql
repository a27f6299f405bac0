{# `tolerance` of as_of as SQL: a number, or a checked interval; none where there is none. #}
{% macro read_tolerance(macro, value) %}
  {%- if value is none -%}{{ return(none) }}{%- endif -%}
  {%- set is_amount = value is number and value is not boolean and value >= 0 -%}
  {%- set sql = value | string if is_amount else joinery.read_interval(value) if value is string -%}
  {%- if not sql -%}
    {%- do joinery.fail(macro, 'as_of', "tolerance must be a number from 0 or an interval such as '2 hours' ("
      ~ joinery.interval_units() | join(', ') ~ "), but is " ~ joinery.shown(value)) -%}
  {%- endif -%}
  {{ return(sql) }}
{% endmacro %}
