{# ORDER BY terms as SQL, with explicit NULLS. `reversed` gives the exact opposite order. columns: SQL for each term's column. #}
{% macro order_sql(terms, columns, reversed=false) %}
  {%- set flip = {'asc': 'desc', 'desc': 'asc', 'first': 'last', 'last': 'first'} -%}
  {%- set parts = [] -%}
  {%- for term in terms -%}
    {%- set direction = flip[term.direction] if reversed else term.direction -%}
    {%- set nulls = flip[term.nulls] if reversed else term.nulls -%}
    {%- do parts.append(columns[loop.index0] ~ ' ' ~ direction ~ ' nulls ' ~ nulls) -%}
  {%- endfor -%}
  {{ return(parts | join(', ')) }}
{% endmacro %}
