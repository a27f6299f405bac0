{# The arguments of last_join, checked, as one mapping: left, right (SQL), keys, order, as_of, columns, types. #}
{% macro read_last_join(left, right, on, order_by, as_of, columns) %}
  {%- set left_sql = joinery.read_relation('last_join', 'left', left) -%}
  {%- set right_sql = joinery.read_relation('last_join', 'right', right) -%}
  {%- set keys = joinery.read_keys('last_join', on) -%}
  {%- if as_of is not none -%}
    {%- do joinery.check_mapping('last_join', 'as_of', as_of, ['left', 'right'], ['strict', 'tolerance']) -%}
    {%- do joinery.check_column('last_join', 'as_of', as_of.left) -%}
    {%- do joinery.check_column('last_join', 'as_of', as_of.right) -%}
    {%- do joinery.check_choice('last_join', 'as_of', as_of.get('strict', false), [true, false]) -%}
    {%- set tolerance = joinery.read_tolerance(as_of.get('tolerance')) -%}
    {%- set as_of = dict(as_of, tolerance=tolerance) -%}
  {%- elif not keys -%}
    {%- do joinery.fail('last_join', 'on', "is empty; without `as_of` it needs at least one column") -%}
  {%- endif -%}
  {# "as of" means the latest, unless the user orders otherwise #}
  {%- set order = joinery.read_order('last_join', order_by or []) or
    ([{'column': as_of.right, 'direction': 'asc', 'nulls': 'first'}] if as_of else []) -%}
  {%- set chosen = joinery.read_right_columns('last_join', columns, keys, left, right) -%}
  {%- if execute and not chosen -%}
    {%- do joinery.fail('last_join', 'columns', "leaves no column of the right side") -%}
  {%- endif -%}
  {%- set is_portable = joinery.mode() == 'portable' -%}
  {{ return({'left': left_sql, 'right': right_sql, 'on': keys, 'order': order, 'as_of': as_of, 'columns': chosen,
    'left_types': joinery.column_types(left) if is_portable else {},
    'right_types': joinery.column_types(right) if is_portable else {}}) }}
{% endmacro %}
