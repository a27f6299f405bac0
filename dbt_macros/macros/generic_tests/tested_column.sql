{# A column of a tested model as SQL. dbt passes a column with `quote: true` in backticks already; all others get them here. #}
{% macro tested_column(macro, argument, value) %}
  {%- if value is string and modules.re.fullmatch('`(?:[^`]|``)+`', value) -%}{{ return(value) }}{%- endif -%}
  {%- do joinery.check_column(macro, argument, value) -%}
  {{ return(joinery.quoted(value)) }}
{% endmacro %}

{# A list of such columns. #}
{% macro tested_columns(macro, argument, values) %}
  {%- do joinery.check_list(macro, argument, values) -%}
  {%- set columns = [] -%}
  {%- for value in values -%}{%- do columns.append(joinery.tested_column(macro, argument, value)) -%}{%- endfor -%}
  {{ return(columns) }}
{% endmacro %}
