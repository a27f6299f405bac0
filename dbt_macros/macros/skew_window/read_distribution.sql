{# The SQL name of the distribution table to cut by, or none to compute boundaries in the query. Missing, stale or foreign statistics are
   named in the log, and are never an error. #}
{% macro read_distribution(window, relation, distribution) %}
  {%- if distribution is none -%}{{ return(none) }}{%- endif -%}
  {%- if distribution == 'auto' -%}
    {%- set distribution = joinery.registered_distribution(window, relation) -%}
    {%- if distribution is none -%}{{ return(none) }}{%- endif -%}
  {%- endif -%}
  {%- set sql = joinery.read_relation('skew_window', 'distribution', distribution) -%}
  {%- if distribution is string or distribution.is_cte or not execute -%}{{ return(sql) }}{%- endif -%}
  {%- set types = joinery.column_types(distribution) -%}
  {%- for name in window.partition_by + ['row_count', 'quantiles'] if joinery.type_of(types, name) is none -%}
    {%- do log("joinery: " ~ sql ~ (" has no column `" ~ name ~ "`" if types else " does not exist")
      ~ "; skew_window over " ~ window.relation ~ " computes its boundaries in the query", info=true) -%}
    {{ return(none) }}
  {%- endfor -%}
  {%- set order_type = joinery.type_of(window.types, window.order[0].column) -%}
  {%- if order_type and joinery.type_of(types, 'quantiles') != 'array<' ~ order_type ~ '>' -%}
    {%- do log("joinery: the quantiles of " ~ sql ~ " are not of type array<" ~ order_type ~ ">; skew_window over "
      ~ window.relation ~ " computes its boundaries in the query", info=true) -%}
    {{ return(none) }}
  {%- endif -%}
  {{ return(sql) }}
{% endmacro %}
