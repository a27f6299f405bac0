{# For on-run-start, and for `dbt run-operation joinery.check_mode`: renders nothing, says in the log which mode runs and why,
   and fails where `extension` is wanted and the jar is not loaded. #}
{% macro check_mode() %}
  {%- do joinery.mode() -%}
{% endmacro %}
