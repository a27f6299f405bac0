{# A column under a table alias of ours: column('r', 'a b') is r.`a b`. #}
{% macro column(alias, name) %}
  {{ return(alias ~ '.' ~ joinery.quoted(name)) }}
{% endmacro %}
