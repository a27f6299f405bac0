{# The SQL for a side of the join, with the predicate that makes its keys few; that may end in a comment, which the line ends. #}
{% macro read_filtering_side(argument, value, where) %}
  {%- set relation = joinery.read_relation('bloom_filter_join', argument, value) -%}
  {%- if where is none -%}
    {{ return(relation) }}
  {%- elif where is not string or not where | trim -%}
    {%- do joinery.fail('bloom_filter_join', 'where', "must be a predicate as SQL text, but is " ~ joinery.shown(where)) -%}
  {%- endif -%}
  {{ return('(select * from ' ~ relation ~ ' where ' ~ where ~ '\n)') }}
{% endmacro %}
