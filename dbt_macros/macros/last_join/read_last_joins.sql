{# Each right side with its arguments, checked: a list of mappings as read_last_join returns them. Arguments that a right side does not
   have come from the call. #}
{% macro read_last_joins(left, rights, defaults, are_several) %}
  {%- do joinery.read_relation('last_join', 'left', left) -%}
  {%- if not rights -%}{%- do joinery.fail('last_join', 'right', "is empty; name at least one relation") -%}{%- endif -%}
  {%- set is_portable = joinery.mode() == 'portable' -%}
  {%- set left_types = joinery.column_types(left) if is_portable else {} -%}
  {%- set joins = [] -%}
  {%- for right in rights -%}
    {%- set macro = 'last_join, right[' ~ loop.index0 ~ ']' if are_several else 'last_join' -%}
    {%- if are_several -%}
      {%- do joinery.check_mapping('last_join', 'right', right, ['relation'], defaults.keys() | sort) -%}
    {%- endif -%}
    {%- set given = dict(defaults, **right) -%}
    {%- do joinery.check_arguments(macro, {'on': given.on}, [], []) -%}
    {%- do given.update({'relation': joinery.whole('last_join', joinery.as_relation(given.relation))}) -%}
    {%- set right_types = joinery.column_types(given.relation) if is_portable else {} -%}
    {%- do joins.append(dict(joinery.read_last_join(macro, left, given, left_types, right_types),
      alias='r' ~ loop.index if are_several else 'r', suffix='_' ~ loop.index if are_several else '')) -%}
  {%- endfor -%}
  {%- do joinery.check_last_join_names(joins) -%}
  {{ return(joins) }}
{% endmacro %}
