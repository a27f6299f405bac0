{# 'extension' or 'portable' for this run, from var('joinery_mode'); portable while parsing, when nothing can be asked. #}
{% macro mode() %}
  {{ return(adapter.dispatch('mode', 'joinery')()) }}
{% endmacro %}

{% macro spark__mode() %}
  {%- set wanted = var('joinery_mode', 'auto') -%}
  {%- if wanted not in ['auto', 'extension', 'portable'] -%}
    {%- do exceptions.raise_compiler_error(
      "joinery: var `joinery_mode` is '" ~ wanted ~ "'; it takes auto, extension or portable") -%}
  {%- endif -%}
  {%- if not execute -%}{{ return('portable') }}{%- endif -%}
  {# Jinja has no globals. `graph` is one dictionary per run, shared by all models and threads, so it remembers the answer. #}
  {%- set run = (invocation_id, wanted) -%}
  {%- set known = graph.get('joinery_mode', {}) -%}
  {%- if run in known -%}{{ return(known[run]) }}{%- endif -%}
  {%- set loaded = wanted != 'portable' and joinery.jar_is_loaded() -%}
  {%- if wanted == 'extension' and not loaded -%}
    {%- do exceptions.raise_compiler_error(
      "joinery: var `joinery_mode` is 'extension', but the Joinery jar is not loaded in this Spark session: set `spark.jars` to "
      ~ "the jar and `spark.sql.extensions` to io.github.sparkjoinery.JoineryExtensions before the session starts, "
      ~ "or use joinery_mode: auto or portable") -%}
  {%- endif -%}
  {%- set mode = 'extension' if loaded else 'portable' -%}
  {%- do log("joinery: " ~ mode ~ " mode (joinery_mode: " ~ wanted ~ ", jar "
    ~ ("not asked for" if wanted == 'portable' else "loaded" if loaded else "not loaded") ~ ")", info=true) -%}
  {%- do graph.update({'joinery_mode': {run: mode}}) -%}
  {{ return(mode) }}
{% endmacro %}
