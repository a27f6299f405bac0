{# "`carrier` as k1, ": keys under names of ours, so that a key called `parts` or `quantiles` is not confused with those. #}
{% macro split_keys(window) %}
  {%- set named = [] -%}
  {%- for key in window.key_columns -%}{%- do named.append(key ~ ' as k' ~ loop.index ~ ', ') -%}{%- endfor -%}
  {{ return(named | join) }}
{% endmacro %}
