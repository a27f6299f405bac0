{# For on-run-start: renders nothing, fails where `extension` is wanted and the jar is not loaded. #}
{% macro check_mode() %}
  {%- do joinery.mode() -%}
{% endmacro %}
