{# `as_of` as {left, right, strict, tolerance}; none if it is not given. If `valid_from` is given, it is the right column. #}
{% macro read_as_of(macro, as_of, valid_from) %}
  {%- if as_of is none and valid_from is none -%}{{ return(none) }}{%- endif -%}
  {%- if as_of is none -%}
    {%- do joinery.fail(macro, 'valid_from', "needs `as_of`, with the left column of the time to look at: {left: ...}") -%}
  {%- endif -%}
  {%- if valid_from is none -%}
    {%- do joinery.check_mapping(macro, 'as_of', as_of, ['left', 'right'], ['strict', 'tolerance']) -%}
  {%- elif as_of is mapping and 'right' in as_of -%}
    {%- do joinery.fail(macro, 'valid_from', "is given together with the right column of `as_of`; remove one of them") -%}
  {%- else -%}
    {%- do joinery.check_mapping(macro, 'as_of', as_of, ['left'], ['strict', 'tolerance']) -%}
    {%- do joinery.check_column(macro, 'valid_from', valid_from) -%}
    {%- set as_of = dict(as_of, right=valid_from) -%}
  {%- endif -%}
  {%- do joinery.check_column(macro, 'as_of', as_of.left) -%}
  {%- do joinery.check_column(macro, 'as_of', as_of.right) -%}
  {%- do joinery.check_choice(macro, 'as_of', as_of.get('strict', false), [true, false]) -%}
  {{ return(dict(as_of, tolerance=joinery.read_tolerance(macro, as_of.get('tolerance')))) }}
{% endmacro %}
