{# The type of a column among {column: type}, whatever its case; none where it is not known. #}
{% macro type_of(types, name) %}
  {%- for column, type in types.items() if column | lower == name | lower -%}
    {{ return(type) }}
  {%- endfor -%}
  {{ return(none) }}
{% endmacro %}
