{# Fails unless the value is a list: a loop would take a string apart into letters. #}
{% macro check_list(macro, argument, value) %}
  {%- if value is string or value is mapping or value is not iterable -%}
    {%- do joinery.fail(macro, argument, "must be a list, but is " ~ joinery.shown(value) ~ "; write [" ~ joinery.shown(value) ~ "]") -%}
  {%- endif -%}
{% endmacro %}
