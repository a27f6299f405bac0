{# Names of the columns of `right`, without the keys that both sides call alike; empty while parsing. #}
{% macro default_right_columns(macro, keys, left, right, prefix) %}
  {%- if not execute -%}{{ return([]) }}{%- endif -%}
  {%- set joined = [] -%}
  {%- for key in keys if joinery.same_name(key.left, key.right) -%}
    {%- do joined.append(key.right) -%}
  {%- endfor -%}
  {%- set of_right = joinery.column_types(right) -%}
  {%- if not of_right -%}
    {%- do joinery.fail(macro, 'columns', "is missing, and " ~ right ~ " does not exist yet to be asked: build it first or list the columns") -%}
  {%- endif -%}
  {%- set of_left = joinery.column_types(left) -%}
  {%- set names = [] -%}
  {%- for name in of_right if not joinery.has_name(joined, name) -%}
    {%- if joinery.has_name(of_left, prefix ~ name) -%}
      {%- do joinery.fail(macro, 'columns', "is missing, and both sides have a column `" ~ prefix ~ name
        ~ "`: list the columns, with {column: " ~ name ~ ", alias: ...}") -%}
    {%- endif -%}
    {%- do names.append(name) -%}
  {%- endfor -%}
  {{ return(names) }}
{% endmacro %}
