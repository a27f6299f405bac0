{# {spark, jar} of the session as text such as '4.3.0'; jar is none if it is not loaded. #}
{% macro session_versions(jar_is_loaded) %}
  {%- set row = run_query('select version()' ~ (', joinery_version()' if jar_is_loaded else '')).rows[0] -%}
  {{ return({'spark': row[0].split(' ')[0], 'jar': row[1] if jar_is_loaded else none}) }}
{% endmacro %}
