{# Each left row once, with the last row of each right side that matches it. Arguments: see last_join.yml. #}
{% macro last_join(left=none, right=none, on=none, order_by=none, as_of=none, columns=none, prefix=none,
                   valid_from=none, valid_to=none, known_at=none, where=none, lookback=none) %}
  {{ return(adapter.dispatch('last_join', 'joinery')(
    left=left, right=right, on=on, order_by=order_by, as_of=as_of, columns=columns, prefix=prefix, valid_from=valid_from,
    valid_to=valid_to, known_at=known_at, where=where, lookback=lookback, unknown=kwargs)) }}
{% endmacro %}

{% macro spark__last_join(left, right, on, order_by, as_of, columns, prefix, valid_from, valid_to, known_at, where, lookback, unknown) %}
  {%- set optional = {'order_by': order_by, 'as_of': as_of, 'columns': columns, 'prefix': prefix, 'valid_from': valid_from,
    'valid_to': valid_to, 'known_at': known_at, 'where': where} -%}
  {%- set are_several = right is sequence and right is not string and right is not mapping -%}
  {%- do joinery.check_arguments('last_join', {'left': left, 'right': right} if are_several else {'left': left, 'right': right, 'on': on},
    (['on'] if are_several else []) + optional.keys() | list + ['lookback'], unknown) -%}
  {%- set left = joinery.as_relation(left) -%}
  {%- set rights = right if are_several else [{'relation': right}] -%}
  {%- set joins = joinery.read_last_joins(left, rights, dict(optional, on=on), are_several) -%}
  {%- set left_sql = joinery.new_left_rows(joinery.read_relation('last_join', 'left', left), lookback, joins) -%}
  {%- if joinery.mode() == 'extension' -%}
    {{ return(joinery.last_join_extension(left_sql, joins)) }}
  {%- endif -%}
  {{ return(joinery.last_join_portable(left_sql, joins)) }}
{% endmacro %}

{% macro default__last_join() %}
  {{ return(joinery.needs_spark('last_join', varargs, kwargs)) }}
{% endmacro %}
