{# A relation that renders with quotes. A schema with a dot (`catalog.schema`, as dbt-spark users write it)
   and names that bring their own backticks stay as dbt renders them. #}
{% macro quoted_relation(relation) %}
  {%- if relation.identifier[0] == '`' -%}{{ return(relation) }}{%- endif -%}
  {%- set schema = relation.schema or '' -%}
  {%- set escaped = relation.replace_path(identifier=relation.identifier | replace('`', '``')) -%}
  {{ return(escaped.quote(schema='.' not in schema and '`' not in schema, identifier=true)) }}
{% endmacro %}
