{# True if the hooks of the package do anything: on Spark, unless var('joinery_checks') is false. #}
{% macro checks_run() %}
  {{ return(joinery.runs_here() and joinery.setting('joinery_checks')) }}
{% endmacro %}
