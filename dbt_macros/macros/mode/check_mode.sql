{# For on-run-start, and for `dbt run-operation joinery.check_mode`: logs which mode runs and why, and renders nothing. It fails if
   `extension` is wanted and the jar is not loaded. #}
{% macro check_mode() %}
  {%- do joinery.mode() -%}
{% endmacro %}
