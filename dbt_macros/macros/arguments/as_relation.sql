{# A relation argument. The text of `ref(...).render()` becomes the Relation that it names. Text without a dot names a CTE, and stays
   text. #}
{% macro as_relation(value) %}
  {%- set parts = joinery.name_parts(value) if value is string else [] -%}
  {%- if parts | length < 2 -%}{{ return(value) }}{%- endif -%}
  {%- if parts | length == 3 and api.Relation.get_default_include_policy().database -%}
    {{ return(api.Relation.create(database=parts[0], schema=parts[1], identifier=parts[2])) }}
  {%- endif -%}
  {%- set schema = [] -%}
  {%- for part in parts[:-1] -%}
    {%- do schema.append(joinery.quoted(part) if parts | length > 2 else part) -%}
  {%- endfor -%}
  {{ return(api.Relation.create(schema=schema | join('.'), identifier=parts[-1])) }}
{% endmacro %}

{# The parts of a name such as raw.`a.b` without their backticks; an empty list if the text is no name. #}
{% macro name_parts(text) %}
  {%- set part = '(?:`(?:[^`]|``)+`|[^`.\\s]+)' -%}
  {%- set names = [] -%}
  {%- for found in modules.re.findall(part, text) if modules.re.fullmatch(part ~ '(?:[.]' ~ part ~ ')*', text) -%}
    {%- do names.append(found[1:-1] | replace('``', '`') if found[0] == '`' else found) -%}
  {%- endfor -%}
  {{ return(names) }}
{% endmacro %}
