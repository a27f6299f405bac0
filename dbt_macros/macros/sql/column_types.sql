{# {column: type} of a relation; empty for a CTE, while parsing, and if the relation does not exist yet. #}
{% macro column_types(relation) %}
  {%- if not execute or relation is string or relation.is_cte -%}{{ return({}) }}{%- endif -%}
  {# `--empty` and `--sample` render a relation as a subquery, which cannot be described #}
  {%- set table = joinery.quoted_relation(relation).replace(limit=none, event_time_filter=none) -%}
  {# dbt-spark finds no columns if the first name begins with `#`, and lists schemas only by names that need no quotes #}
  {%- set exists = adapter.get_columns_in_relation(table) or (modules.re.fullmatch('[\\w.]+', relation.schema | string)
    and adapter.get_relation(database=relation.database, schema=relation.schema, identifier=relation.identifier)) -%}
  {{ return(joinery.described_columns(table) if exists else {}) }}
{% endmacro %}

{# {column: type} as DESCRIBE lists them. dbt-spark ends its list at a name that begins with `#`, as the headings below the columns do.
   This list ends at the first row without a type, which only a heading lacks. Hudi's own columns are left out, as in dbt-spark. #}
{% macro described_columns(table) %}
  {%- set types = {} -%}
  {%- set state = namespace(has_ended=false) -%}
  {%- for row in run_query('describe ' ~ table).rows -%}
    {%- if not row[1] -%}{%- set state.has_ended = true -%}{%- endif -%}
    {%- if not state.has_ended and not modules.re.fullmatch('_hoodie_(commit_time|commit_seqno|record_key|partition_path|file_name)', row[0] | string) -%}
      {%- do types.update({row[0] | string: row[1]}) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(types) }}
{% endmacro %}
