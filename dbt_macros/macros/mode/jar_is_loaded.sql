{# True if the session has the jar. Without the jar, SHOW FUNCTIONS LIKE lists nothing and raises no error; Jinja could not catch a
   failing query. #}
{% macro jar_is_loaded() %}
  {%- set functions = run_query("show functions like 'joinery_version'") -%}
  {{ return(functions is not none and functions.rows | length > 0) }}
{% endmacro %}
