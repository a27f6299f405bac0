{# The SQL for a relation argument: a Relation, or a string that names a CTE of the same model. #}
{% macro read_relation(macro, argument, value) %}
  {%- if value is string -%}
    {%- do joinery.check_column(macro, argument, value) -%}
    {%- if '.' in value -%}
      {%- do joinery.fail(macro, argument, "is '" ~ value ~ "', which is neither the name of a CTE nor that of a table, such as ref(...).render() gives; use ref() or source()") -%}
    {%- endif -%}
    {{ return(joinery.quoted(value)) }}
  {%- elif value.identifier is not defined -%}
    {%- do joinery.fail(macro, argument, "must be a relation (ref or source) or the name of a CTE, but is " ~ joinery.shown(value)) -%}
  {%- endif -%}
  {{ return(joinery.quoted_relation(value) | string) }}
{% endmacro %}
