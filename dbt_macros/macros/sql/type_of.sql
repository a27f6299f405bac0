{# The type of a column among {column: type}, by the session's rule for upper and lower case; none if it is not known. #}
{% macro type_of(types, name) %}
  {%- if name in types -%}{{ return(types[name]) }}{%- endif -%}
  {%- for column, type in types.items() if joinery.same_name(column, name) -%}
    {{ return(type) }}
  {%- endfor -%}
  {{ return(none) }}
{% endmacro %}
