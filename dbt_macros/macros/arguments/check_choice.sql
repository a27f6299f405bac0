{# Fails unless the value is one of the choices. #}
{% macro check_choice(macro, argument, value, choices) %}
  {%- if value not in choices -%}
    {%- do joinery.fail(macro, argument, "must be one of " ~ choices | join(", ") ~ ", but is " ~ joinery.shown(value)) -%}
  {%- endif -%}
{% endmacro %}
