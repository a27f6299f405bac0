{# Whether boundaries exist: those of a distribution, or quantiles that Spark can compute for the type of the order column. #}
{% macro can_be_cut(window, boundaries) %}
  {%- set type = joinery.type_of(window.types, window.order[0].column) -%}
  {%- set numeric = modules.re.match('tinyint|smallint|int|bigint|float|double|decimal|date|timestamp|$', type or '') -%}
  {%- if not boundaries and not numeric -%}
    {%- do joinery.log_decline(window, "no quantiles of type " ~ type ~ " can be computed in the query") -%}
  {%- endif -%}
  {{ return(true if boundaries or numeric else false) }}
{% endmacro %}
