{# 'interval 2 hours' from "2 hours" and the like; none from anything else, which would be SQL pasted raw. #}
{% macro read_interval(text) %}
  {%- set found = modules.re.fullmatch("\\s*(?:interval\\s+)?'?(\\d+)'?\\s+(" ~ joinery.interval_units() | join('|') ~ ")s?\\s*", text,
    modules.re.IGNORECASE) -%}
  {{ return('interval ' ~ found.group(1) ~ ' ' ~ found.group(2) | lower if found else none) }}
{% endmacro %}

{% macro interval_units() %}
  {{ return(['microsecond', 'millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'year']) }}
{% endmacro %}
