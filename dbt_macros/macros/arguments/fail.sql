{# Raises an error that names the macro and the argument. #}
{% macro fail(macro, argument, problem) %}
  {%- do exceptions.raise_compiler_error("joinery." ~ macro ~ ": argument `" ~ argument ~ "` " ~ problem) -%}
{% endmacro %}
