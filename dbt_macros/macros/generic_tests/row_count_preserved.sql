{# Fails where the model has more or fewer rows than another. Arguments: see generic_tests.yml. #}
{% test row_count_preserved(model, compare_model=none) %}
  {{ return(adapter.dispatch('test_row_count_preserved', 'joinery')(model, compare_model, kwargs)) }}
{% endtest %}

{% macro spark__test_row_count_preserved(model, compare_model, unknown) %}
  {%- do joinery.check_arguments('row_count_preserved', {'compare_model': compare_model}, [], unknown) -%}
  {%- if compare_model.identifier is not defined -%}
    {%- do joinery.fail('row_count_preserved', 'compare_model', "must be a relation (ref or source), but is " ~ joinery.shown(compare_model)) -%}
  {%- endif %}
select row_count, expected_row_count
from (select count(*) as row_count from {{ model }})
cross join (select count(*) as expected_row_count from {{ joinery.quoted_relation(compare_model) }})
where row_count <> expected_row_count
{%- endmacro %}

{% macro default__test_row_count_preserved() %}
  {{ return(joinery.needs_spark('row_count_preserved', varargs, kwargs)) }}
{% endmacro %}
