{# [prefix1, prefix2, ...], one for each item. #}
{% macro numbered(prefix, items) %}
  {%- set names = [] -%}
  {%- for item in items -%}
    {%- do names.append(prefix ~ loop.index) -%}
  {%- endfor -%}
  {{ return(names) }}
{% endmacro %}
