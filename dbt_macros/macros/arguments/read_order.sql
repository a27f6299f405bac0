{# `order_by` as a list of {column, direction, nulls} with Spark's defaults filled in: asc, NULLS FIRST under asc, LAST under desc. #}
{% macro read_order(macro, order_by) %}
  {%- do joinery.check_list(macro, 'order_by', order_by) -%}
  {%- set terms = [] -%}
  {%- for item in order_by -%}
    {%- if item is string -%}
      {%- set item = {'column': item} -%}
    {%- endif -%}
    {%- do joinery.check_mapping(macro, 'order_by', item, ['column'], ['direction', 'nulls']) -%}
    {%- do joinery.check_column(macro, 'order_by', item.column) -%}
    {%- set direction = item.get('direction', 'asc') -%}
    {%- set nulls = item.get('nulls', 'first' if direction == 'asc' else 'last') -%}
    {%- do joinery.check_choice(macro, 'order_by', direction, ['asc', 'desc']) -%}
    {%- do joinery.check_choice(macro, 'order_by', nulls, ['first', 'last']) -%}
    {%- do terms.append({'column': item.column, 'direction': direction, 'nulls': nulls}) -%}
  {%- endfor -%}
  {{ return(terms) }}
{% endmacro %}
