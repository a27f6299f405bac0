{# The side whose keys filter the other, 'left' or 'right'. The join must not return unmatched rows of the side that is filtered. #}
{% macro read_keys_of(how, keys_of) %}
  {%- set sides = {'inner': ['right', 'left'], 'semi': ['right', 'left'], 'left': ['left'], 'right': ['right'], 'anti': ['left']} -%}
  {%- do joinery.check_choice('bloom_filter_join', 'how', how, sides.keys() | list) -%}
  {%- if keys_of is none -%}
    {{ return(sides[how][0]) }}
  {%- endif -%}
  {%- do joinery.check_choice('bloom_filter_join', 'keys_of', keys_of, ['left', 'right']) -%}
  {%- if keys_of not in sides[how] -%}
    {%- do joinery.fail('bloom_filter_join', 'keys_of', "must be " ~ sides[how][0] ~ " where `how` is " ~ how
      ~ ": rows of that side come out with and without a match, so that only the other side's can be dropped") -%}
  {%- endif -%}
  {{ return(keys_of) }}
{% endmacro %}
