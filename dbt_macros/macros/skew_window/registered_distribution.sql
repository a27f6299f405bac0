{# The distribution that the nightly job registered for this window in var('joinery_schema'), or none. Both SHOW statements return no rows
   if nothing is there, and raise no error, which Jinja could not catch. #}
{% macro registered_distribution(window, relation) %}
  {%- if not execute or relation is string or relation.is_cte -%}{{ return(none) }}{%- endif -%}
  {%- set schema = joinery.read_schema() -%}
  {%- if not joinery.schema_exists(schema) -%}{{ return(none) }}{%- endif -%}
  {%- set name = joinery.distribution_table_name(joinery.catalog_and_schema(relation), relation.identifier, window.partition_by, window.order[0].column) -%}
  {%- if not run_query('show tables in ' ~ schema.sql ~ " like '" ~ name ~ "'").rows -%}{{ return(none) }}{%- endif -%}
  {%- set is_plain = schema.catalog is none and modules.re.fullmatch('\\w+', schema.name) -%}
  {{ return(api.Relation.create(schema=schema.name if is_plain else schema.sql, identifier=name)) }}
{% endmacro %}
