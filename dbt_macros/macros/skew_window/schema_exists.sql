{# True if the schema {catalog, name} exists. LIKE takes a pattern, in which characters other than letters, digits and _ may have a
   meaning. SHOW SCHEMAS may quote the names that it returns. The pattern is therefore wide, and the names are compared afterwards. #}
{% macro schema_exists(schema) %}
  {%- set pattern = modules.re.sub('\\W', '*', schema.name, 0, modules.re.ASCII) -%}
  {%- set found = run_query('show schemas' ~ (' in ' ~ schema.catalog if schema.catalog else '') ~ " like '" ~ pattern ~ "'") -%}
  {%- for row in found.rows if row[0] | lower | replace('`', '') == schema.name | lower | replace('`', '') -%}
    {{ return(true) }}
  {%- endfor -%}
  {{ return(false) }}
{% endmacro %}
