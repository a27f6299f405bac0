{# True where the comparison of `as_of` may put right times in another order than they are written in. Local times compared as instants
   do so where a clock change leaves out an hour. dbt does not know the types of a CTE, so its times may be local ones. #}
{% macro may_disorder(join) %}
  {%- set left_type = joinery.type_of(join.left_types, join.as_of.left) -%}
  {%- set right_type = joinery.type_of(join.right_types, join.as_of.right) -%}
  {{ return(not left_type or not right_type or (left_type != right_type and 'timestamp_ntz' in right_type)) }}
{% endmacro %}
