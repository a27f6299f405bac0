{# Fails for unknown arguments and for required ones that are missing.
   required: {name: value}; optional: names, for the message; unknown: what the macro caught as kwargs. #}
{% macro check_arguments(macro, required, optional, unknown) %}
  {%- for name in unknown -%}
    {%- do joinery.fail(macro, name, "is unknown; it takes " ~ (required.keys() | list + optional) | join(", ")) -%}
  {%- endfor -%}
  {%- for name, value in required.items() if value is undefined or value is none -%}
    {%- do joinery.fail(macro, name, "is missing") -%}
  {%- endfor -%}
{% endmacro %}
