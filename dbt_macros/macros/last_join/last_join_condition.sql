{# The ON condition: equal keys, and the right time not after the left one, nor further back than tolerance. #}
{% macro last_join_condition(join, left_alias, right_alias) %}
  {%- set conditions = [] -%}
  {%- for key in join.on -%}
    {%- do conditions.append(joinery.column(left_alias, key.left) ~ ' = ' ~ joinery.column(right_alias, key.right)) -%}
  {%- endfor -%}
  {%- if join.as_of -%}
    {%- do conditions.append(joinery.column(right_alias, join.as_of.right) ~ (' < ' if join.as_of.strict else ' <= ')
      ~ joinery.column(left_alias, join.as_of.left)) -%}
    {%- if join.as_of.tolerance -%}
      {%- do conditions.append(joinery.column(right_alias, join.as_of.right) ~ ' >= ' ~ joinery.column(left_alias, join.as_of.left)
        ~ ' - ' ~ join.as_of.tolerance) -%}
    {%- endif -%}
  {%- endif -%}
  {{ return(conditions | join(' and ')) }}
{% endmacro %}
