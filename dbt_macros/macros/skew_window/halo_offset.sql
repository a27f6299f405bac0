{# ' - 10' or ' + interval 2 hours': how far a halo goes. Intervals of a day or more reach a day further, because subtracting calendar
   intervals does not keep the order of timestamps (month ends, clock changes). #}
{% macro halo_offset(bound, sign) %}
  {%- if bound == 0 -%}{{ return('') }}{%- endif -%}
  {%- set sql = ' ' ~ sign ~ ' ' ~ bound -%}
  {%- if bound is string -%}
    {%- set count, unit = bound.split(' ')[1:] -%}
    {%- set in_a_day = {'hour': 24, 'minute': 1440, 'second': 86400, 'millisecond': 86400000, 'microsecond': 86400000000} -%}
    {%- if count | int >= in_a_day.get(unit, 0) -%}
      {%- set sql = sql ~ ' ' ~ sign ~ ' interval 1 day' -%}
    {%- endif -%}
  {%- endif -%}
  {{ return(sql) }}
{% endmacro %}
