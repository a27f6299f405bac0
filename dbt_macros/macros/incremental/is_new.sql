{# The predicate of rows to compute in this run. Rows without a time are computed in every run: none says how old they are. #}
{% macro is_new(column, watermark) %}
  {%- set time = joinery.quoted(column) -%}
  {{ return('(' ~ time ~ ' >= ' ~ watermark ~ ' or ' ~ time ~ ' is null)') }}
{% endmacro %}
