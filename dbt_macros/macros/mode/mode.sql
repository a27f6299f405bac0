{# 'extension' or 'portable' for this run, from var('joinery_mode'); portable while parsing, when no query can run. #}
{% macro mode() %}
  {%- set wanted = joinery.setting('joinery_mode') -%}
  {%- if wanted not in ['auto', 'extension', 'portable'] -%}
    {%- do exceptions.raise_compiler_error(
      "joinery: var `joinery_mode` is '" ~ wanted ~ "'; it takes auto, extension or portable") -%}
  {%- endif -%}
  {%- if not execute -%}{{ return('portable') }}{%- endif -%}
  {# Jinja has no globals. `graph` is one dictionary per run, shared by all models and threads, so it remembers the answer. #}
  {%- set known = graph.get('joinery_mode', {}) -%}
  {%- if known.get('run') != invocation_id -%}
    {%- set known = {'run': invocation_id, 'wanted': wanted, 'mode': joinery.chosen_mode(wanted)} -%}
    {%- do graph.update({'joinery_mode': known}) -%}
  {%- elif known.wanted != wanted -%}
    {%- do exceptions.raise_compiler_error("joinery: var `joinery_mode` is '" ~ wanted ~ "' here and '" ~ known.wanted
      ~ "' elsewhere in this run: set it once, at the top level of `vars` in dbt_project.yml") -%}
  {%- endif -%}
  {{ return(known.mode) }}
{% endmacro %}
