{# The point or interval of each side, as {left, right} of {start, end, is_point}. At least one is an interval. #}
{% macro read_ranges(left_point, left_interval, right_point, right_interval) %}
  {%- set left = joinery.read_range('left', left_point, left_interval) -%}
  {%- if left.is_point and right_interval is none -%}
    {%- do joinery.fail('range_join', 'right_interval', "is missing: with `left_point` the right side needs an interval, [start, end];"
      ~ " points that have to be equal belong into `on`") -%}
  {%- endif -%}
  {%- set right = joinery.read_range('right', right_point, right_interval) -%}
  {{ return({'left': left, 'right': right}) }}
{% endmacro %}

{# The point or interval of one side; a point is an interval that starts and ends there. #}
{% macro read_range(side, point, interval) %}
  {%- set point_name, interval_name = side ~ '_point', side ~ '_interval' -%}
  {%- if point is none and interval is none -%}
    {%- do joinery.fail('range_join', point_name, "is missing; give it, or `" ~ interval_name ~ "`: [start, end]") -%}
  {%- elif point is not none and interval is not none -%}
    {%- do joinery.fail('range_join', point_name, "is given together with `" ~ interval_name ~ "`; remove one of them") -%}
  {%- elif point is not none -%}
    {%- do joinery.check_column('range_join', point_name, point) -%}
    {{ return({'start': point, 'end': point, 'is_point': true}) }}
  {%- endif -%}
  {%- if interval is string or interval is mapping or interval is not iterable or interval | length != 2 -%}
    {%- do joinery.fail('range_join', interval_name, "must be two columns, [start, end], but is " ~ joinery.shown(interval)) -%}
  {%- endif -%}
  {%- for name in interval -%}
    {%- do joinery.check_column('range_join', interval_name, name) -%}
  {%- endfor -%}
  {{ return({'start': interval[0], 'end': interval[1], 'is_point': false}) }}
{% endmacro %}
