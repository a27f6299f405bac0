{# Returns keys that have too large a share of all rows. Arguments: see generic_tests.yml. #}
{% test skew_below(model, column_name=none, partition_by=none, max_share=none, min_rows=0) %}
  {{ return(adapter.dispatch('test_skew_below', 'joinery')(model, column_name, partition_by, max_share, min_rows, kwargs)) }}
{% endtest %}

{# NULL is a key like others: its rows, too, meet in one task. #}
{% macro spark__test_skew_below(model, column_name, partition_by, max_share, min_rows, unknown) %}
  {%- do joinery.check_arguments('skew_below', {'max_share': max_share}, ['column_name', 'partition_by', 'min_rows'], unknown) -%}
  {%- if (column_name is none) == (partition_by is none) -%}
    {%- do joinery.fail('skew_below', 'partition_by', "must be given, or the test belong to a column, but not both") -%}
  {%- endif -%}
  {%- if max_share is not number or max_share is boolean or max_share <= 0 or max_share >= 1 -%}
    {%- do joinery.fail('skew_below', 'max_share', "must be a number between 0 and 1, but is " ~ joinery.shown(max_share)) -%}
  {%- endif -%}
  {%- if min_rows is not integer or min_rows < 0 -%}
    {%- do joinery.fail('skew_below', 'min_rows', "must be an integer from 0, but is " ~ joinery.shown(min_rows)) -%}
  {%- endif -%}
  {%- set keys = joinery.tested_columns('skew_below', 'partition_by', partition_by) if column_name is none
    else [joinery.tested_column('skew_below', 'column_name', column_name)] -%}
  {%- if not keys -%}
    {%- do joinery.fail('skew_below', 'partition_by', "is empty; name the columns of the key") -%}
  {%- endif %}
select *
from (
  select {{ keys | join(', ') }}, joinery_row_count, joinery_row_count / joinery_total as joinery_share
  from (
    select {{ keys | join(', ') }}, count(*) as joinery_row_count
    from {{ model }}
    group by {{ keys | join(', ') }}
  )
  cross join (select count(*) as joinery_total from {{ model }})
)
where joinery_share > {{ max_share }} and joinery_row_count >= {{ min_rows }}
{%- endmacro %}

{% macro default__test_skew_below() %}
  {{ return(joinery.needs_spark('skew_below', varargs, kwargs)) }}
{% endmacro %}
