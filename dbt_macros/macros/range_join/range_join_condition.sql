{# The ON condition: equal keys, and the comparisons. Intervals that only touch overlap where all ends belong to them. #}
{% macro range_join_condition(join) %}
  {%- set left, right = join.ranges.left, join.ranges.right -%}
  {%- set conditions = [] -%}
  {%- for key in join.on -%}
    {%- do conditions.append(joinery.column('l', key.left) ~ ' = ' ~ joinery.column('r', key.right)) -%}
  {%- endfor -%}
  {%- if left.is_point -%}
    {%- do conditions.append(joinery.range_join_holds('r', right, joinery.column('l', left.start), join.bounds)) -%}
  {%- elif right.is_point -%}
    {%- do conditions.append(joinery.range_join_holds('l', left, joinery.column('r', right.start), join.bounds)) -%}
  {%- else -%}
    {%- set below = '<=' if join.bounds == '[]' else '<' -%}
    {%- do conditions.append(joinery.column('l', left.start) ~ ' ' ~ below ~ ' ' ~ joinery.column('r', right.end)) -%}
    {%- do conditions.append(joinery.column('r', right.start) ~ ' ' ~ below ~ ' ' ~ joinery.column('l', left.end)) -%}
  {%- endif -%}
  {{ return(conditions | join(' and ')) }}
{% endmacro %}

{# The interval of one side holds a point, given as SQL. #}
{% macro range_join_holds(alias, interval, point, bounds) %}
  {{ return(point ~ (' > ' if bounds[0] == '(' else ' >= ') ~ joinery.column(alias, interval.start) ~ ' and '
    ~ point ~ (' < ' if bounds[1] == ')' else ' <= ') ~ joinery.column(alias, interval.end)) }}
{% endmacro %}
