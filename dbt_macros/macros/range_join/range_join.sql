{# Points of one side with the intervals of the other that hold them, or intervals that overlap. Arguments: see range_join.yml. #}
{% macro range_join(left=none, right=none, left_point=none, left_interval=none, right_point=none, right_interval=none,
                    bounds='[]', on=[], where=none, how='inner', columns=none) %}
  {{ return(adapter.dispatch('range_join', 'joinery')(
    left=left, right=right, left_point=left_point, left_interval=left_interval, right_point=right_point, right_interval=right_interval,
    bounds=bounds, on=on, where=where, how=how, columns=columns, unknown=kwargs)) }}
{% endmacro %}

{# The same join in both modes. The hint asks the jar for a range join even if it would leave the query to Spark. #}
{% macro spark__range_join(left, right, left_point, left_interval, right_point, right_interval, bounds, on, where, how, columns, unknown) %}
  {%- do joinery.check_arguments('range_join', {'left': left, 'right': right},
    ['left_point', 'left_interval', 'right_point', 'right_interval', 'bounds', 'on', 'where', 'how', 'columns'], unknown) -%}
  {%- do joinery.check_choice('range_join', 'bounds', bounds, ['[]', '[)', '(]', '()']) -%}
  {%- set types = joinery.join_types() -%}
  {%- do joinery.check_choice('range_join', 'how', how, types.keys() | list) -%}
  {%- set left, right = joinery.batch_sides('range_join', how, joinery.as_relation(left), joinery.as_relation(right)) -%}
  {%- set join = {
    'left': joinery.read_relation('range_join', 'left', left),
    'right': joinery.read_side('range_join', 'right', right, where),
    'ranges': joinery.read_ranges(left_point, left_interval, right_point, right_interval),
    'bounds': bounds, 'on': joinery.read_keys('range_join', on), 'how': how} -%}
  {%- set chosen = joinery.read_join_columns('range_join', join, columns, left, right) -%}
select{{ ' /*+ RANGE_JOIN(r) */' if joinery.mode() == 'extension' else '' }}
  {{ joinery.join_left_columns(join, left) }}
  {%- for item in chosen %},
  {{ joinery.column('r', item.column) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}
from {{ join.left }} as l
{{ types[how] }} {{ join.right }} as r
  on {{ joinery.range_join_condition(join) }}
{%- endmacro %}

{% macro default__range_join() %}
  {{ return(joinery.needs_spark('range_join', varargs, kwargs)) }}
{% endmacro %}
