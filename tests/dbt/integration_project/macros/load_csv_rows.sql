{# Replaces the macro of dbt-spark, which writes a missing string as the text 'None' if its method is session. #}
{% macro spark__load_csv_rows(model, agate_table) %}
  {%- set types = model.config.get('column_types', {}) -%}
  {%- set rows = [] -%}
  {%- for row in agate_table.rows -%}
    {%- set values = [] -%}
    {%- for name in agate_table.column_names -%}
      {%- set literal = 'null' if row[name] is none else "'" ~ row[name] ~ "'" -%}
      {%- do values.append('cast(' ~ literal ~ ' as ' ~ types.get(name, adapter.convert_type(agate_table, loop.index0)) ~ ')') -%}
    {%- endfor -%}
    {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
  {%- endfor -%}
  {%- set sql = 'insert into ' ~ this ~ ' values ' ~ rows | join(', ') -%}
  {%- do run_query(sql) -%}
  {{ return(sql) }}
{% endmacro %}
