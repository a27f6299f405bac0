{# `frame` as {type, preceding, following}; a bound is an integer, 'unbounded', or for RANGE a checked interval. #}
{% macro read_frame(frame, order) %}
  {%- do joinery.check_mapping('skew_window', 'frame', frame, ['type', 'preceding'], ['following']) -%}
  {%- do joinery.check_choice('skew_window', 'frame', frame.type, ['rows', 'range']) -%}
  {%- set bounds = {'type': frame.type} -%}
  {%- for side in ['preceding', 'following'] -%}
    {%- set value = frame.get(side, 0) -%}
    {%- set is_count = value is integer and value >= 0 -%}
    {%- if frame.type == 'range' and value is string and value != 'unbounded' -%}
      {%- set interval = joinery.read_interval(value) -%}
      {%- if not interval -%}
        {%- do joinery.fail('skew_window', 'frame', side ~ " must be an integer, 'unbounded' or an interval such as '2 hours' ("
          ~ joinery.interval_units() | join(', ') ~ "), but is '" ~ value ~ "'") -%}
      {%- endif -%}
      {%- set value = interval -%}
    {%- elif not is_count and value != 'unbounded' -%}
      {%- do joinery.fail('skew_window', 'frame', side ~ " must be an integer from 0, 'unbounded'"
        ~ (" or an interval such as '2 hours'" if frame.type == 'range' else "") ~ ", but is " ~ joinery.shown(value)) -%}
    {%- endif -%}
    {%- if frame.type == 'range' and order | length > 1 and value not in [0, 'unbounded'] -%}
      {%- do joinery.fail('skew_window', 'order_by', "must be one column where a RANGE frame has an offset") -%}
    {%- endif -%}
    {%- do bounds.update({side: value}) -%}
  {%- endfor -%}
  {%- set both = [bounds.preceding | string, bounds.following | string] -%}
  {%- if 'interval' in both[0] and 'interval' in both[1] and both[0].split(' ')[2] != both[1].split(' ')[2] -%}
    {%- do joinery.fail('skew_window', 'frame', "must have one unit in both bounds, as Spark demands: " ~ both | join(' and ')) -%}
  {%- endif -%}
  {{ return(bounds) }}
{% endmacro %}
