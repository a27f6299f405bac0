{# 'interval 2 hours' from "2 hours" and the like; anything else would be SQL pasted raw. #}
{% macro read_interval(side, text) %}
  {%- set units = 'microsecond|millisecond|second|minute|hour|day|week|month|year' -%}
  {%- set found = modules.re.fullmatch("\\s*(?:interval\\s+)?'?(\\d+)'?\\s+(" ~ units ~ ")s?\\s*", text, modules.re.IGNORECASE) -%}
  {%- if not found -%}
    {%- do joinery.fail('skew_window', 'frame', side ~ " must be an integer, 'unbounded' or an interval such as '2 hours' ("
      ~ units | replace('|', ', ') ~ "), but is '" ~ text ~ "'") -%}
  {%- endif -%}
  {{ return('interval ' ~ found.group(1) ~ ' ' ~ found.group(2) | lower) }}
{% endmacro %}
