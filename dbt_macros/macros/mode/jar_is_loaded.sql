{# Whether the session has the jar. SHOW FUNCTIONS LIKE lists nothing, without an error, where it has not: Jinja could not catch a
   failing query. #}
{% macro jar_is_loaded() %}
  {%- set functions = run_query("show functions like 'joinery_version'") -%}
  {{ return(functions is not none and functions.rows | length > 0) }}
{% endmacro %}
