{# Name of the table under which a distribution is registered; spark_joinery.metadata.artifact_table_name in Jinja. #}
{% macro distribution_table_name(schema, identifier, partition_by, order_by) %}
  {%- set parts = [] -%}
  {%- for part in [schema, identifier] -%}
    {%- do parts.append(part[1:-1] | replace('``', '`') if part[0] == '`' else part) -%}
  {%- endfor -%}
  {%- set relation = (parts | join('.')) | lower -%}
  {%- if relation[:14] == 'spark_catalog.' -%}{%- set relation = relation[14:] -%}{%- endif -%}
  {%- set text = (relation ~ '|' ~ partition_by | join(',') ~ '|' ~ order_by) | lower -%}
  {%- set name = modules.re.sub('[^a-z0-9_]', '_', parts[1] | lower) -%}
  {{ return('dist_' ~ name[:24] ~ '_' ~ local_md5(text)[:8]) }}
{% endmacro %}
