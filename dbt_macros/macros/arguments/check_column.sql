{# Fails unless the value is a plain column name. Names are quoted later, so quotes around one would become part of it. #}
{% macro check_column(macro, argument, value) %}
  {%- if value is not string or not value | trim -%}
    {%- do joinery.fail(macro, argument, "must be the name of a column, but is " ~ joinery.shown(value)) -%}
  {%- elif value[0] == '`' and value[-1] == '`' -%}
    {%- do joinery.fail(macro, argument, "must be a plain name without quotes, but is " ~ value ~ "; joinery quotes it") -%}
  {%- endif -%}
{% endmacro %}
