{# A join in which few keys of one side drop most rows of the other. Arguments: see bloom_filter_join.yml. #}
{% macro bloom_filter_join(left=none, right=none, on=none, keys_of=none, where=none, how='inner', columns=none) %}
  {{ return(adapter.dispatch('bloom_filter_join', 'joinery')(
    left=left, right=right, on=on, keys_of=keys_of, where=where, how=how, columns=columns, unknown=kwargs)) }}
{% endmacro %}

{# The same join in both modes. The hint makes the jar build a filter of a side's keys, or take one from the store. #}
{% macro spark__bloom_filter_join(left, right, on, keys_of, where, how, columns, unknown) %}
  {%- do joinery.check_arguments('bloom_filter_join', {'left': left, 'right': right, 'on': on},
    ['keys_of', 'where', 'how', 'columns'], unknown) -%}
  {%- set keys = joinery.read_keys('bloom_filter_join', on) -%}
  {%- if not keys -%}
    {%- do joinery.fail('bloom_filter_join', 'on', "is empty; name the columns that must be equal") -%}
  {%- endif -%}
  {%- set alias = joinery.read_keys_of(how, keys_of)[0] -%}
  {%- set left, right = joinery.batch_sides('bloom_filter_join', how, joinery.as_relation(left), joinery.as_relation(right)) -%}
  {%- set join = {
    'left': joinery.read_side('bloom_filter_join', 'left', left, where if alias == 'l' else none),
    'right': joinery.read_side('bloom_filter_join', 'right', right, where if alias == 'r' else none),
    'on': keys, 'how': how} -%}
  {%- set chosen = joinery.read_join_columns('bloom_filter_join', join, columns, left, right) -%}
  {%- set conditions = [] -%}
  {%- for key in keys -%}
    {%- do conditions.append(joinery.column('l', key.left) ~ ' = ' ~ joinery.column('r', key.right)) -%}
  {%- endfor -%}
select{{ ' /*+ RUNTIME_FILTER(' ~ alias ~ ') */' if joinery.mode() == 'extension' else '' }}
  {{ joinery.join_left_columns(join, left) }}
  {%- for item in chosen %},
  {{ joinery.column('r', item.column) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}
from {{ join.left }} as l
{{ joinery.join_types()[how] }} {{ join.right }} as r
  on {{ conditions | join(' and ') }}
{%- endmacro %}

{% macro default__bloom_filter_join() %}
  {{ return(joinery.needs_spark('bloom_filter_join', varargs, kwargs)) }}
{% endmacro %}
