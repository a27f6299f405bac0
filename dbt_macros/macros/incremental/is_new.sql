{# Predicate for the rows to compute in this run. Rows without a time are computed in every run, as their age is not known. The watermark
   of a unit test is a subquery, which is NULL if the test gives the model no rows: then all rows are new. #}
{% macro is_new(column, watermark) %}
  {%- set time = joinery.quoted(column) -%}
  {%- set no_rows = ' or ' ~ watermark ~ ' is null' if '(select ' in watermark else '' -%}
  {{ return('(' ~ time ~ ' >= ' ~ watermark ~ ' or ' ~ time ~ ' is null' ~ no_rows ~ ')') }}
{% endmacro %}
