{# Both sides of a join as [left, right]. The side that is looked up is read whole. The other one keeps dbt's filter by event time: the
   left side, or in a right join the right side. An inner join keeps the filter of the right side if the left side has none. #}
{% macro batch_sides(macro, how, left, right) %}
  {%- if how == 'full' and (left.event_time_filter or right.event_time_filter) -%}
    {%- do joinery.fail(macro, 'how', "must not be full where dbt filters a side by event time (microbatch, --sample): which rows match "
      ~ "nothing is only known of whole sides; give both as ref(...).render()") -%}
  {%- endif -%}
  {%- set left_is_whole = left is not string and not left.event_time_filter -%}
  {%- if how == 'right' or (how in ['inner', 'cross'] and left_is_whole) -%}
    {{ return([joinery.whole(macro, left), right]) }}
  {%- endif -%}
  {{ return([left, joinery.whole(macro, right)]) }}
{% endmacro %}
