{# A value as an error message shows it. #}
{% macro shown(value) %}
  {{ return("'" ~ value ~ "'" if value is string else "undefined" if value is undefined else value | string) }}
{% endmacro %}
