{# var('joinery_min_part_rows') as an integer from 1. #}
{% macro read_min_part_rows() %}
  {%- set value = joinery.setting('joinery_min_part_rows') -%}
  {%- if not modules.re.fullmatch('[0-9]+', value | string) -%}
    {%- do exceptions.raise_compiler_error("joinery: var `joinery_min_part_rows` is '" ~ value
      ~ "'; it takes a whole number of rows, such as 10000") -%}
  {%- endif -%}
  {{ return([value | int, 1] | max) }}
{% endmacro %}
