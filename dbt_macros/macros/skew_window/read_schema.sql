{# var('joinery_schema') as {catalog, name, sql}: a schema or `catalog.schema`, odd parts in backticks, as for `joinery refresh --schema`. #}
{% macro read_schema() %}
  {%- set text = joinery.setting('joinery_schema') | string -%}
  {%- set names = joinery.name_parts(text) -%}
  {%- if names | length not in [1, 2] -%}
    {%- do exceptions.raise_compiler_error("joinery: var `joinery_schema` is '" ~ text
      ~ "'; it takes the name of a schema, or catalog.schema, with odd parts in backticks") -%}
  {%- endif -%}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(joinery.quoted(name)) -%}{%- endfor -%}
  {{ return({'catalog': quoted[0] if quoted | length > 1 else none, 'name': names[-1], 'sql': quoted | join('.')}) }}
{% endmacro %}
