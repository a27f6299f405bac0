{# The arguments for one right side, checked: {right (SQL), on, order, as_of, valid_to, known_at, columns, left_types, right_types}. #}
{% macro read_last_join(macro, left, given, left_types, right_types) %}
  {%- set right_sql = joinery.read_side(macro, 'right', given.relation, given.where) -%}
  {%- set keys = joinery.read_keys(macro, given.on) -%}
  {%- set as_of = joinery.read_as_of(macro, given.as_of, given.valid_from) -%}
  {%- do joinery.check_tolerance(macro, as_of, left, left_types) -%}
  {%- if not as_of and not keys -%}
    {%- do joinery.fail(macro, 'on', "is empty; without `as_of` it needs at least one column") -%}
  {%- endif -%}
  {%- set valid_to = joinery.read_valid_to(macro, given.valid_to, as_of) -%}
  {%- set known_at = joinery.read_known_at(macro, given.known_at, as_of) -%}
  {%- set order = joinery.read_order(macro, given.order_by or []) -%}
  {# "as of" means the latest row, and among its versions the one known last, unless the user orders otherwise #}
  {%- for time in [as_of, known_at] if time and not given.order_by -%}
    {%- do order.append({'column': time.right, 'direction': 'asc', 'nulls': 'first'}) -%}
  {%- endfor -%}
  {%- set chosen = joinery.read_right_columns(macro, given.columns, keys, left, given.relation, given.prefix) -%}
  {%- if execute and not chosen -%}
    {%- do joinery.fail(macro, 'columns', "leaves no column of the right side") -%}
  {%- endif -%}
  {{ return({'right': right_sql, 'on': keys, 'order': order, 'as_of': as_of, 'valid_to': valid_to, 'known_at': known_at,
    'columns': chosen, 'left_types': left_types, 'right_types': right_types}) }}
{% endmacro %}
