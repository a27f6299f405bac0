{# True if the comparison of `as_of` may put right times in another order than the one they are written in. Local times that are compared
   as instants change their order if a clock change leaves out an hour. The times of a CTE may be local ones, as dbt does not know its
   types. #}
{% macro may_disorder(join) %}
  {%- set left_type = joinery.type_of(join.left_types, join.as_of.left) -%}
  {%- set right_type = joinery.type_of(join.right_types, join.as_of.right) -%}
  {{ return(not left_type or not right_type or (left_type != right_type and 'timestamp_ntz' in right_type)) }}
{% endmacro %}
