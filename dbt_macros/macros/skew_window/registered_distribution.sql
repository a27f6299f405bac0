{# The distribution that the nightly job registered in schema `joinery` for this window, or none. Both SHOW statements return
   nothing where there is nothing: Jinja could not catch an error. #}
{% macro registered_distribution(window, relation) %}
  {%- if not execute or relation is string or relation.is_cte -%}{{ return(none) }}{%- endif -%}
  {%- if not run_query("show schemas like 'joinery'").rows -%}{{ return(none) }}{%- endif -%}
  {%- set name = joinery.distribution_table_name(relation.schema, relation.identifier, window.partition_by, window.order[0].column) -%}
  {%- if not run_query("show tables in joinery like '" ~ name ~ "'").rows -%}{{ return(none) }}{%- endif -%}
  {{ return(api.Relation.create(schema='joinery', identifier=name)) }}
{% endmacro %}
