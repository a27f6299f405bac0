{# The schema of a relation, below its catalog where the adapter names one, as Databricks' does. #}
{% macro catalog_and_schema(relation) %}
  {{ return((relation.database ~ '.' if relation.database and relation.include_policy.database else '') ~ relation.schema) }}
{% endmacro %}
