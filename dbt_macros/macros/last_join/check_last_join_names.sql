{# Fails if two right columns come out under one name, or if a right column hides a left column by which a later right side is joined.
   Portable SQL joins one side after the other, and could not tell the two columns apart. #}
{% macro check_last_join_names(joins) %}
  {%- set names = [] -%}
  {%- for join in joins -%}
    {%- for pair in join.on + [join.as_of, join.known_at] if pair and joinery.has_name(names, pair.left) -%}
      {%- do joinery.fail('last_join', 'columns', "returns a right column as `" ~ pair.left
        ~ "`, which is also a left column that a later right side is joined by: give it an alias, or a `prefix`") -%}
    {%- endfor -%}
    {%- for item in join.columns -%}
      {%- if joinery.has_name(names, item.alias) -%}
        {%- do joinery.fail('last_join', 'columns', "returns two right columns as `" ~ item.alias
          ~ "`: give one of them an alias, or its side a `prefix`") -%}
      {%- endif -%}
      {%- do names.append(item.alias) -%}
    {%- endfor -%}
  {%- endfor -%}
{% endmacro %}
