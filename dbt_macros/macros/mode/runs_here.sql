{# True on Spark's adapters and on adapters derived from them, such as Databricks'. A project may have targets of other adapters. #}
{% macro runs_here() %}
  {{ return(adapter.dispatch('joinery_runs_here', 'joinery')()) }}
{% endmacro %}

{% macro spark__joinery_runs_here() %}
  {{ return(true) }}
{% endmacro %}

{% macro default__joinery_runs_here() %}
  {{ return(false) }}
{% endmacro %}

{# Fails if a macro runs on another adapter than Spark's. It does not fail while dbt parses, which happens for every target. #}
{% macro needs_spark(macro, positional, named) %}
  {%- if execute -%}
    {%- do exceptions.raise_compiler_error("joinery." ~ macro ~ " writes SQL for Spark, but the adapter of this target is " ~ adapter.type()
      ~ ". Leave the model or test out there, for example by the config enabled: \"{{ target.type == 'spark' }}\"") -%}
  {%- endif -%}
  {{ return('') }}
{% endmacro %}
