{# Returns intervals that overlap an earlier one of the same key, and intervals that end before they start. Arguments: see
   generic_tests.yml. #}
{% test intervals_do_not_overlap(model, start=none, end=none, partition_by=[], bounds='[)') %}
  {{ return(adapter.dispatch('test_intervals_do_not_overlap', 'joinery')(model, start, end, partition_by, bounds, kwargs)) }}
{% endtest %}

{# Sorted by start, an interval overlaps an earlier one if it starts before the last end so far. This takes one sort and no join. A NULL
   is an open end. Intervals that hold no point overlap nothing, and are left out of the sort. #}
{% macro spark__test_intervals_do_not_overlap(model, start, end, partition_by, bounds, unknown) %}
  {%- set name = 'intervals_do_not_overlap' -%}
  {%- do joinery.check_arguments(name, {'start': start, 'end': end}, ['partition_by', 'bounds'], unknown) -%}
  {%- do joinery.check_choice(name, 'bounds', bounds, ['[]', '[)', '(]', '()']) -%}
  {%- set keys = joinery.tested_columns(name, 'partition_by', partition_by) -%}
  {%- set starts, ends = joinery.tested_column(name, 'start', start), joinery.tested_column(name, 'end', end) -%}
  {%- set before = '<=' if bounds == '[]' else '<' %}
select __joinery_row.*, 'overlaps an earlier interval' as joinery_problem
from (
  select
    struct(*) as __joinery_row,
    {{ starts }} as __joinery_start,
    count(*) over earlier as __joinery_earlier,
    bool_or({{ ends }} is null) over earlier as __joinery_is_open,
    max({{ ends }}) over earlier as __joinery_last_end
  from {{ model }}
  where {{ starts }} {{ before }} {{ ends }} or {{ starts }} is null or {{ ends }} is null
  window earlier as (
    {%- if keys %}partition by {{ keys | join(', ') }} {% endif -%}
    order by {{ starts }} asc nulls first rows between unbounded preceding and 1 preceding)
)
where __joinery_earlier > 0 and (__joinery_start is null or __joinery_is_open or __joinery_start {{ before }} __joinery_last_end)
union all
select *, 'ends before it starts' as joinery_problem
from {{ model }}
where {{ ends }} < {{ starts }}
{%- endmacro %}

{% macro default__test_intervals_do_not_overlap() %}
  {{ return(joinery.needs_spark('intervals_do_not_overlap', varargs, kwargs)) }}
{% endmacro %}
