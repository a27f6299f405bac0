{# The left side of a last_join. An incremental run with `lookback` takes only its rows from the watermark on. The time of a row is the
   left column of the first `as_of`. #}
{% macro new_left_rows(left, lookback, joins) %}
  {%- if lookback is none -%}{{ return(left) }}{%- endif -%}
  {%- set timed = joins | selectattr('as_of') | list -%}
  {%- if not timed -%}
    {%- do joinery.fail('last_join', 'lookback', "needs `as_of`: its left column says how new a row is") -%}
  {%- endif -%}
  {%- set time = timed[0].as_of.left -%}
  {%- set watermark = joinery.watermark('last_join', lookback, time) -%}
  {{ return('(select * from ' ~ left ~ ' where ' ~ joinery.is_new(time, watermark) ~ ')' if watermark else left) }}
{% endmacro %}
