{# Whether there is a schema {catalog, name}. LIKE takes a pattern, in which all but letters, digits and _ may mean something, and the
   answer is quoted where a name needs it: so the pattern is wide, and the names are compared. #}
{% macro schema_exists(schema) %}
  {%- set pattern = modules.re.sub('\\W', '*', schema.name, 0, modules.re.ASCII) -%}
  {%- set found = run_query('show schemas' ~ (' in ' ~ schema.catalog if schema.catalog else '') ~ " like '" ~ pattern ~ "'") -%}
  {%- for row in found.rows if row[0] | lower | replace('`', '') == schema.name | lower | replace('`', '') -%}
    {{ return(true) }}
  {%- endfor -%}
  {{ return(false) }}
{% endmacro %}
