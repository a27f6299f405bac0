{# An identifier in backticks, with those inside it doubled (dbt-spark's adapter.quote does not double them). #}
{% macro quoted(name) %}
  {{ return(adapter.quote(name | replace('`', '``'))) }}
{% endmacro %}
