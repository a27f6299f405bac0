{# The window in parts, or the plain window if it cannot be cut. The jar needs neither types nor distributions, so they are looked up
   here. #}
{% macro portable_window(window, relation, distribution) %}
  {%- if 'unbounded' in [window.frame.preceding, window.frame.following] -%}
    {%- do joinery.log_decline(window, "an unbounded frame reaches every part of a key") -%}
    {{ return(joinery.plain_window(window)) }}
  {%- endif -%}
  {%- set window = dict(window, types=joinery.column_types(relation)) -%}
  {%- set boundaries = joinery.read_distribution(window, relation, distribution) -%}
  {%- if not joinery.can_be_cut(window, boundaries) -%}
    {{ return(joinery.plain_window(window)) }}
  {%- endif -%}
  {{ return(joinery.split_window(window, boundaries)) }}
{% endmacro %}
