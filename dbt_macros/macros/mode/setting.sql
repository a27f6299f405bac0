{# A var of the package, or its default. dbt shows a model only the vars of its own project. The macro therefore also looks for vars under
   the package's name (`vars: {joinery: {...}}`), which otherwise only the hook would see. #}
{% macro setting(name) %}
  {%- set defaults = {'joinery_mode': 'auto', 'joinery_schema': 'joinery', 'joinery_min_part_rows': 10000, 'joinery_checks': true} -%}
  {%- set of_package = var('joinery', {}) -%}
  {%- set value = var(name, none) -%}
  {%- if value is none and of_package is mapping -%}{%- set value = of_package.get(name) -%}{%- endif -%}
  {{ return(defaults[name] if value is none else value) }}
{% endmacro %}
