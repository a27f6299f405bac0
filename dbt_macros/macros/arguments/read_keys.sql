{# `on` as a list of {left, right} column names. #}
{% macro read_keys(macro, on) %}
  {%- do joinery.check_list(macro, 'on', on) -%}
  {%- set keys = [] -%}
  {%- for item in on -%}
    {%- if item is string -%}
      {%- set pair = {'left': item, 'right': item} -%}
    {%- else -%}
      {%- do joinery.check_mapping(macro, 'on', item, ['left', 'right'], []) -%}
      {%- set pair = item -%}
    {%- endif -%}
    {%- do joinery.check_column(macro, 'on', pair.left) -%}
    {%- do joinery.check_column(macro, 'on', pair.right) -%}
    {%- do keys.append({'left': pair.left, 'right': pair.right}) -%}
  {%- endfor -%}
  {{ return(keys) }}
{% endmacro %}
