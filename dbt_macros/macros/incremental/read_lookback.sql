{# `lookback` as {reach, whole}. reach is SQL: how far before the newest row to begin. whole is the unit that is computed as a whole, or
   none. #}
{% macro read_lookback(macro, lookback) %}
  {%- if lookback is not mapping -%}{%- set lookback = {'reach': lookback} -%}{%- endif -%}
  {%- do joinery.check_mapping(macro, 'lookback', lookback, ['reach'], ['whole']) -%}
  {%- set reach = lookback.reach -%}
  {%- set is_amount = reach is number and reach is not boolean and reach >= 0 -%}
  {%- set sql = reach | string if is_amount else joinery.read_interval(reach) if reach is string -%}
  {%- if not sql -%}
    {%- do joinery.fail(macro, 'lookback', "must be a number from 0 or an interval such as '2 days' ("
      ~ joinery.interval_units() | join(', ') ~ "), but is " ~ joinery.shown(reach)) -%}
  {%- endif -%}
  {%- if 'whole' in lookback -%}
    {%- do joinery.check_choice(macro, 'lookback', lookback.whole, ['hour', 'day', 'week', 'month', 'quarter', 'year']) -%}
  {%- endif -%}
  {{ return({'reach': sql, 'whole': lookback.get('whole')}) }}
{% endmacro %}
