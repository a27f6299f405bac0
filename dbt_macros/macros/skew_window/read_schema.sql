{# var('joinery_schema') as {catalog, name, sql}: a schema or `catalog.schema`, odd parts in backticks, as for `joinery refresh --schema`. #}
{% macro read_schema() %}
  {%- set text = joinery.setting('joinery_schema') | string -%}
  {%- set part = '(?:`(?:[^`]|``)+`|[^`.\\s]+)' -%}
  {%- if not modules.re.fullmatch(part ~ '(?:[.]' ~ part ~ ')?', text) -%}
    {%- do exceptions.raise_compiler_error("joinery: var `joinery_schema` is '" ~ text
      ~ "'; it takes the name of a schema, or catalog.schema, with odd parts in backticks") -%}
  {%- endif -%}
  {%- set names, quoted = [], [] -%}
  {%- for found in modules.re.findall(part, text) -%}
    {%- do names.append(found[1:-1] | replace('``', '`') if found[0] == '`' else found) -%}
    {%- do quoted.append(joinery.quoted(names[-1])) -%}
  {%- endfor -%}
  {{ return({'catalog': quoted[0] if quoted | length > 1 else none, 'name': names[-1], 'sql': quoted | join('.')}) }}
{% endmacro %}
