{# The message of a jar that is built for another Spark, which names the right one; none without such a jar. #}
{% macro jar_misfit() %}
  {%- set functions = run_query("show functions like 'joinery_misfit'") -%}
  {%- set is_there = functions is not none and functions.rows | length > 0 -%}
  {{ return(run_query('select joinery_misfit()').rows[0][0] if is_there else none) }}
{% endmacro %}
