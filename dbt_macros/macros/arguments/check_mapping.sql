{# Fails unless the value is a mapping that has all required keys, and no others but the optional ones. An unknown key is named first, as
   it may be a misspelled required one. #}
{% macro check_mapping(macro, argument, value, required, optional) %}
  {%- if value is not mapping -%}
    {%- do joinery.fail(macro, argument, "must have the keys " ~ required | join(", ") ~ ", but is " ~ joinery.shown(value)) -%}
  {%- endif -%}
  {%- for key in value if key not in required + optional -%}
    {%- do joinery.fail(macro, argument, "has the unknown key `" ~ key ~ "`; it takes " ~ (required + optional) | join(", ")) -%}
  {%- endfor -%}
  {%- for key in required if key not in value -%}
    {%- do joinery.fail(macro, argument, "lacks the key `" ~ key ~ "`: " ~ value) -%}
  {%- endfor -%}
{% endmacro %}
