{# Left rows with the right intervals that hold their value. Arguments: see range_join.yml. #}
{% macro range_join(left=none, right=none, value=none, start=none, end=none, on=[], how='inner',
                    start_inclusive=true, end_inclusive=true, columns=none) %}
  {{ return(adapter.dispatch('range_join', 'joinery')(
    left, right, value, start, end, on, how, start_inclusive, end_inclusive, columns, kwargs)) }}
{% endmacro %}

{# An ordinary range condition in both modes: it is the planner that makes it fast, not the text. #}
{% macro spark__range_join(left, right, value, start, end, on, how, start_inclusive, end_inclusive, columns, unknown) %}
  {%- do joinery.check_arguments('range_join', {'left': left, 'right': right, 'value': value, 'start': start, 'end': end},
    ['on', 'how', 'start_inclusive', 'end_inclusive', 'columns'], unknown) -%}
  {%- set left_sql = joinery.read_relation('range_join', 'left', left) -%}
  {%- set right_sql = joinery.read_relation('range_join', 'right', right) -%}
  {%- set keys = joinery.read_keys('range_join', on) -%}
  {%- for argument, name in {'value': value, 'start': start, 'end': end}.items() -%}
    {%- do joinery.check_column('range_join', argument, name) -%}
  {%- endfor -%}
  {%- do joinery.check_choice('range_join', 'how', how, ['inner', 'left']) -%}
  {%- do joinery.check_choice('range_join', 'start_inclusive', start_inclusive, [true, false]) -%}
  {%- do joinery.check_choice('range_join', 'end_inclusive', end_inclusive, [true, false]) -%}
  {%- do joinery.mode() -%}
select
  l.*
  {%- for item in joinery.read_right_columns('range_join', columns, keys, left, right) %},
  {{ joinery.column('r', item.column) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}
from {{ left_sql }} as l
{{ how }} join {{ right_sql }} as r
  on {% for key in keys %}{{ joinery.column('l', key.left) }} = {{ joinery.column('r', key.right) }} and {% endfor -%}
  {{ joinery.column('l', value) }} {{ '>=' if start_inclusive else '>' }} {{ joinery.column('r', start) }} and {# -#}
  {{ joinery.column('l', value) }} {{ '<=' if end_inclusive else '<' }} {{ joinery.column('r', end) }}
{%- endmacro %}
