{# `valid_to`, a right column, as {left, right}; none if it is not given. The time of `as_of` has to be before it. #}
{% macro read_valid_to(macro, valid_to, as_of) %}
  {%- if valid_to is none -%}{{ return(none) }}{%- endif -%}
  {%- do joinery.check_column(macro, 'valid_to', valid_to) -%}
  {%- if not as_of -%}
    {%- do joinery.fail(macro, 'valid_to', "needs `as_of`, with the left column of the time to look at: {left: ...}") -%}
  {%- endif -%}
  {{ return({'left': as_of.left, 'right': valid_to}) }}
{% endmacro %}

{# `known_at` as {left, right}; none if it is not given. A right row counts if it was known by the left time, which by default is that of
   `as_of`. #}
{% macro read_known_at(macro, known_at, as_of) %}
  {%- if known_at is none -%}{{ return(none) }}{%- endif -%}
  {%- if not as_of -%}
    {%- do joinery.fail(macro, 'known_at', "needs `as_of`, with the times that the right rows are about") -%}
  {%- endif -%}
  {%- if known_at is string -%}
    {%- set known_at = {'left': as_of.left, 'right': known_at} -%}
  {%- endif -%}
  {%- do joinery.check_mapping(macro, 'known_at', known_at, ['left', 'right'], []) -%}
  {%- do joinery.check_column(macro, 'known_at', known_at.left) -%}
  {%- do joinery.check_column(macro, 'known_at', known_at.right) -%}
  {{ return(known_at) }}
{% endmacro %}
