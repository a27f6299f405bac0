{# {column: type} of a relation; empty for a CTE, while parsing, and where the relation does not exist yet. #}
{% macro column_types(relation) %}
  {%- set types = {} -%}
  {%- if execute and relation is not string and not relation.is_cte -%}
    {# `--empty` and `--sample` render a relation as a subquery, which cannot be described #}
    {%- set table = joinery.quoted_relation(relation).replace(limit=none, event_time_filter=none) -%}
    {%- for column in adapter.get_columns_in_relation(table) -%}
      {%- do types.update({column.name: column.dtype}) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(types) }}
{% endmacro %}
