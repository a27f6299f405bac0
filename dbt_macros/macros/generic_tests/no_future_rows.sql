{# Returns rows that know the future: the joined time is after the row's own time. Arguments: see generic_tests.yml. #}
{% test no_future_rows(model, column_name=none, not_after=none, strict=false) %}
  {{ return(adapter.dispatch('test_no_future_rows', 'joinery')(model, column_name, not_after, strict, kwargs)) }}
{% endtest %}

{# A NULL passes, as LAST JOIN returns NULL for a row without a match. #}
{% macro spark__test_no_future_rows(model, column_name, not_after, strict, unknown) %}
  {%- do joinery.check_arguments('no_future_rows', {'column_name': column_name, 'not_after': not_after}, ['strict'], unknown) -%}
  {%- do joinery.check_choice('no_future_rows', 'strict', strict, [true, false]) %}
select *
from {{ model }}
where {{ joinery.tested_column('no_future_rows', 'column_name', column_name) }} {{ '>=' if strict else '>' }} {{ joinery.tested_column('no_future_rows', 'not_after', not_after) }}
{%- endmacro %}

{% macro default__test_no_future_rows() %}
  {{ return(joinery.needs_spark('no_future_rows', varargs, kwargs)) }}
{% endmacro %}
