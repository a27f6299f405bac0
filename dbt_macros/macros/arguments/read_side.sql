{# The SQL for a side of a join: a relation, with `where` those of its rows that satisfy it. The predicate may end in a comment, which the
   line ends. #}
{% macro read_side(macro, argument, value, where) %}
  {%- set relation = joinery.read_relation(macro, argument, value) -%}
  {%- if where is none -%}
    {{ return(relation) }}
  {%- elif where is not string or not where | trim -%}
    {%- do joinery.fail(macro, 'where', "must be a predicate as SQL text, but is " ~ joinery.shown(where)) -%}
  {%- endif -%}
  {{ return('(select * from ' ~ relation ~ ' where ' ~ where ~ '\n)') }}
{% endmacro %}
