{# The columns of ORDER BY terms as SQL, under a table alias. #}
{% macro order_columns(terms, alias) %}
  {%- set columns = [] -%}
  {%- for term in terms -%}{%- do columns.append(joinery.column(alias, term.column)) -%}{%- endfor -%}
  {{ return(columns) }}
{% endmacro %}
