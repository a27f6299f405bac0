{# The SQL for a side of a join: a relation, or with `where` the rows of it that satisfy the predicate. The predicate may end in a
   comment, so a line break follows it. #}
{% macro read_side(macro, argument, value, where) %}
  {%- set relation = joinery.read_relation(macro, argument, value) -%}
  {%- if where is none -%}
    {{ return(relation) }}
  {%- elif where is not string or not where | trim -%}
    {%- do joinery.fail(macro, 'where', "must be a predicate as SQL text, but is " ~ joinery.shown(where)) -%}
  {%- endif -%}
  {{ return('(select * from ' ~ relation ~ ' where ' ~ where ~ '\n)') }}
{% endmacro %}
