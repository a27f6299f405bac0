{# The time from which an incremental run computes a window, or none. A frame that looks ahead changes before the first new row, so the
   time is earlier by its FOLLOWING. #}
{% macro window_watermark(window, lookback) %}
  {%- if lookback is none -%}{{ return(none) }}{%- endif -%}
  {%- if window.order[0].direction == 'desc' -%}
    {%- do joinery.fail('skew_window', 'lookback', "needs an ascending order: under desc every new row changes all frames that follow") -%}
  {%- elif window.frame.following == 'unbounded' or (window.frame.type == 'rows' and window.frame.following) -%}
    {%- do joinery.fail('skew_window', 'lookback', "needs `following: 0`, or under range a distance: how many old rows have a new one in "
      ~ "their frame cannot be told") -%}
  {%- endif -%}
  {{ return(joinery.watermark('skew_window', lookback, window.order[0].column, joinery.halo_offset(window.frame.following, '-'))) }}
{% endmacro %}
