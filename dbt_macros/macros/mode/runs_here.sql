{# True on Spark's adapters and those that inherit from them, such as Databricks'. A project may have targets of other adapters. #}
{% macro runs_here() %}
  {{ return(adapter.dispatch('joinery_runs_here', 'joinery')()) }}
{% endmacro %}

{% macro spark__joinery_runs_here() %}
  {{ return(true) }}
{% endmacro %}

{% macro default__joinery_runs_here() %}
  {{ return(false) }}
{% endmacro %}

{# Fails for a macro that is run on another adapter than Spark's. Nothing fails while dbt parses, which it does for every target. #}
{% macro needs_spark(macro, positional, named) %}
  {%- if execute -%}
    {%- do exceptions.raise_compiler_error("joinery." ~ macro ~ " writes SQL for Spark, but the adapter of this target is " ~ adapter.type()
      ~ ". Leave the model or test out there, for example by the config enabled: \"{{ target.type == 'spark' }}\"") -%}
  {%- endif -%}
  {{ return('') }}
{% endmacro %}
