{# A right column in the type in which `=` and `<=` compare it with its left partner. Grouping by a finer type would let two right rows
   match one left row. The types of a CTE are not known to dbt, so the SQL makes Spark find the common type: `if` widens both branches.
   The call of greatest refuses to compare a string with anything else, where grouping and `=` disagree. The optimizer removes everything
   but the cast. #}
{% macro in_common_type(left, join, pair) %}
  {%- set right_column = joinery.column('r', pair.right) -%}
  {%- set left_type, right_type = joinery.type_of(join.left_types, pair.left), joinery.type_of(join.right_types, pair.right) -%}
  {%- if right_type and right_type == left_type -%}
    {{ return(right_column) }}
  {%- elif joinery.char_length(left_type) and joinery.char_length(right_type) -%}
    {{ return(joinery.padded(right_column, joinery.char_length(left_type))) }}
  {%- endif -%}
  {%- set left_column = '(select first(' ~ joinery.column('l', pair.left) ~ ') from ' ~ left ~ ' as l where false)' -%}
  {{ return('if(true or greatest(' ~ left_column ~ ', ' ~ right_column ~ ') is null, ' ~ right_column ~ ', ' ~ left_column ~ ')') }}
{% endmacro %}

{# A right CHAR as `=` compares it with a left CHAR of another length: spaces at the end do not count. SQL ignores them for columns only,
   so the macro pads the value. A value that is longer than the left type equals no left value. #}
{% macro padded(column, length) %}
  {%- set bare = 'rtrim(' ~ column ~ ')' -%}
  {{ return('if(char_length(' ~ bare ~ ') <= ' ~ length ~ ', rpad(' ~ bare ~ ', ' ~ length ~ ", ' '), " ~ column ~ ')') }}
{% endmacro %}

{# 5 for the type char(5); none for any other type. #}
{% macro char_length(type) %}
  {%- set found = modules.re.fullmatch('char[(](\\d+)[)]', type or '') -%}
  {{ return(found.group(1) if found else none) }}
{% endmacro %}
