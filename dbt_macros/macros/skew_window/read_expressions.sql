{# `expressions` as a list of {name, expression}: this argument holds SQL, an aggregate that OVER can follow. #}
{% macro read_expressions(expressions) %}
  {%- do joinery.check_list('skew_window', 'expressions', expressions) -%}
  {%- for item in expressions -%}
    {%- do joinery.check_mapping('skew_window', 'expressions', item, ['name', 'expression'], []) -%}
    {%- do joinery.check_column('skew_window', 'expressions', item.name) -%}
    {%- if item.expression is not string or not item.expression | trim -%}
      {%- do joinery.fail('skew_window', 'expressions', "needs SQL such as 'avg(delay)' for " ~ item.name) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if not expressions -%}{%- do joinery.fail('skew_window', 'expressions', "is empty") -%}{%- endif -%}
  {{ return(expressions) }}
{% endmacro %}
