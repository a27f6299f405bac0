{# `columns` as a list of {column, alias}. The default is all columns of a right Relation, without the keys that both sides call alike.
   Columns without an alias of their own get the prefix. #}
{% macro read_right_columns(macro, columns, keys, left, right, prefix=none) %}
  {%- set chosen = [] -%}
  {%- if prefix is not none -%}{%- do joinery.check_column(macro, 'prefix', prefix) -%}{%- endif -%}
  {%- if columns is none -%}
    {%- if right is string or right.is_cte -%}
      {%- do joinery.fail(macro, 'columns', "is missing; it is needed where `right` is a CTE or an ephemeral model") -%}
    {%- endif -%}
    {%- for name in joinery.default_right_columns(macro, keys, left, right, prefix or '') -%}
      {%- do chosen.append({'column': name, 'alias': (prefix or '') ~ name}) -%}
    {%- endfor -%}
    {{ return(chosen) }}
  {%- endif -%}
  {%- do joinery.check_list(macro, 'columns', columns) -%}
  {%- for item in columns -%}
    {%- if item is string -%}
      {%- set item = {'column': item} -%}
    {%- endif -%}
    {%- do joinery.check_mapping(macro, 'columns', item, ['column'], ['alias']) -%}
    {%- set alias = item.get('alias', (prefix or '') ~ item.column) -%}
    {%- do joinery.check_column(macro, 'columns', item.column) -%}
    {%- do joinery.check_column(macro, 'columns', alias) -%}
    {%- do chosen.append({'column': item.column, 'alias': alias}) -%}
  {%- endfor -%}
  {{ return(chosen) }}
{% endmacro %}
