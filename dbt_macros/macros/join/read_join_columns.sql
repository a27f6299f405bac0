{# The right columns to return, as {column, alias}; semi and anti joins have none. #}
{% macro read_join_columns(macro, join, columns, left, right) %}
  {%- if join.how not in ['semi', 'anti'] -%}
    {{ return(joinery.read_right_columns(macro, columns, join.on, left, right)) }}
  {%- elif columns is not none -%}
    {%- do joinery.fail(macro, 'columns', "must be left out where `how` is " ~ join.how
      ~ ": such a join returns left columns only") -%}
  {%- endif -%}
  {{ return([]) }}
{% endmacro %}
