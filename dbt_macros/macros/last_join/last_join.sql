{# Each left row once, with the last of the right rows that match it. Arguments: see last_join.yml. #}
{% macro last_join(left=none, right=none, on=none, order_by=none, as_of=none, columns=none) %}
  {{ return(adapter.dispatch('last_join', 'joinery')(left, right, on, order_by, as_of, columns, kwargs)) }}
{% endmacro %}

{% macro spark__last_join(left, right, on, order_by, as_of, columns, unknown) %}
  {%- do joinery.check_arguments('last_join', {'left': left, 'right': right, 'on': on}, ['order_by', 'as_of', 'columns'], unknown) -%}
  {%- set join = joinery.read_last_join(left, right, on, order_by, as_of, columns) -%}
  {%- if joinery.mode() == 'extension' -%}
    {{ return(joinery.last_join_extension(join)) }}
  {%- elif join.as_of and join.order[0].column | lower == join.as_of.right | lower and join.order[0].direction == 'asc' -%}
    {{ return(joinery.last_join_as_of(join)) }}
  {%- endif -%}
  {{ return(joinery.last_join_ranked(join)) }}
{% endmacro %}
