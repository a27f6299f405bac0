{# The ON condition: equal keys; a right time that is not after the left one, nor further back than the tolerance; a right row that still
   holds, and that was known. #}
{% macro last_join_condition(join, left_alias, right_alias) %}
  {%- set conditions = [] -%}
  {%- for key in join.on -%}
    {%- do conditions.append(joinery.column(left_alias, key.left) ~ ' = ' ~ joinery.column(right_alias, key.right)) -%}
  {%- endfor -%}
  {%- if join.as_of -%}
    {%- set now, then = joinery.column(left_alias, join.as_of.left), joinery.column(right_alias, join.as_of.right) -%}
    {%- do conditions.append(then ~ (' < ' if join.as_of.strict else ' <= ') ~ now) -%}
    {%- if join.as_of.tolerance is not none -%}
      {%- do conditions.append(then ~ ' >= ' ~ now ~ join.as_of.tolerance) -%}
    {%- endif -%}
  {%- endif -%}
  {%- if join.valid_to -%}
    {%- set ends = joinery.column(right_alias, join.valid_to.right) -%}
    {%- do conditions.append('(' ~ ends ~ ' > ' ~ joinery.column(left_alias, join.valid_to.left) ~ ' or ' ~ ends ~ ' is null)') -%}
  {%- endif -%}
  {%- if join.known_at -%}
    {%- do conditions.append(joinery.column(right_alias, join.known_at.right) ~ ' <= ' ~ joinery.column(left_alias, join.known_at.left)) -%}
  {%- endif -%}
  {{ return(conditions | join(' and ')) }}
{% endmacro %}
