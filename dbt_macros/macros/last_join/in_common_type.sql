{# A right column in the type in which `=` and `<=` compare it with its left partner. Grouping by anything finer would let
   two right rows match one left row. dbt does not know the types of a CTE, so SQL is made to find them: `if` widens both
   branches, array_contains refuses to compare a string with anything else (where grouping and `=` disagree), and the
   optimizer removes all of it but the cast. #}
{% macro in_common_type(left, join, pair) %}
  {%- set right_column = joinery.column('r', pair.right) -%}
  {%- set right_type = joinery.type_of(join.right_types, pair.right) -%}
  {%- if right_type and right_type == joinery.type_of(join.left_types, pair.left) -%}
    {{ return(right_column) }}
  {%- endif -%}
  {%- set left_column = '(select first(' ~ joinery.column('l', pair.left) ~ ') from ' ~ left ~ ' as l where false)' -%}
  {{ return('if(true or array_contains(array(' ~ left_column ~ '), ' ~ right_column ~ '), ' ~ right_column ~ ', ' ~ left_column ~ ')') }}
{% endmacro %}
