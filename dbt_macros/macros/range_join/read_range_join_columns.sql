{# The right columns to return, as {column, alias}; semi and anti joins have none. #}
{% macro read_range_join_columns(join, columns, left, right) %}
  {%- if join.how not in ['semi', 'anti'] -%}
    {{ return(joinery.read_right_columns('range_join', columns, join.on, left, right)) }}
  {%- elif columns is not none -%}
    {%- do joinery.fail('range_join', 'columns', "must be left out where `how` is " ~ join.how
      ~ ": such a join returns left columns only") -%}
  {%- endif -%}
  {{ return([]) }}
{% endmacro %}
