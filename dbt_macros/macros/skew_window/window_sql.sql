{# PARTITION BY, ORDER BY and frame. #}
{% macro window_sql(window, keys) %}
  {%- set bounds = {} -%}
  {%- for side in ['preceding', 'following'] -%}
    {%- set value = window.frame[side] -%}
    {%- do bounds.update({side: 'current row' if value == 0 else value ~ ' ' ~ side}) -%}
  {%- endfor -%}
  {{ return(('partition by ' ~ keys | join(', ') ~ ' ' if keys else '')
    ~ 'order by ' ~ joinery.order_sql(window.order, window.order_columns)
    ~ ' ' ~ window.frame.type ~ ' between ' ~ bounds.preceding ~ ' and ' ~ bounds.following) }}
{% endmacro %}
