{# The predicate of rows to compute in this run. Rows without a time are computed in every run: none says how old they are. A unit
   test's watermark is a subquery, which has no value where the model is given no rows: then all rows are new. #}
{% macro is_new(column, watermark) %}
  {%- set time = joinery.quoted(column) -%}
  {%- set no_rows = ' or ' ~ watermark ~ ' is null' if '(select ' in watermark else '' -%}
  {{ return('(' ~ time ~ ' >= ' ~ watermark ~ ' or ' ~ time ~ ' is null' ~ no_rows ~ ')') }}
{% endmacro %}
