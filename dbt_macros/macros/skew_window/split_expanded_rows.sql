{# Step 3 for ROWS: the last rows of each part are copied to all later parts, as many as the frame reaches; of a part smaller than the
   frame all of them. That needs no count of other parts, which would have to read the relation, and agree with it, once more.
   `up` is towards higher order values: what PRECEDING needs under ASC, and FOLLOWING under DESC. #}
{% macro split_expanded_rows(window, boundaries) %}
  {%- set asc = window.order[0].direction == 'asc' -%}
  {%- set up = window.frame.preceding if asc else window.frame.following -%}
  {%- set down = window.frame.following if asc else window.frame.preceding -%}
  {%- set part = (window.key_columns + ['__joinery_part']) | join(', ') -%}
  {%- set from_last = joinery.order_sql(window.order, window.order_columns, reversed=asc) -%}
  {%- set from_first = joinery.order_sql(window.order, window.order_columns, reversed=not asc) -%}
select *, __joinery_part <> __joinery_part_id as __joinery_expanded_row
    from (
      select *, explode(sequence(
        if(__joinery_down <= {{ down }}, __joinery_first, __joinery_part),
        if(__joinery_up <= {{ up }}, __joinery_last, __joinery_part))) as __joinery_part_id
      from (
        select *,
          {{ joinery.split_rank(up, part, from_last) }} as __joinery_up,
          {{ joinery.split_rank(down, part, from_first) }} as __joinery_down
        from (
          {{ joinery.split_tagged(window, boundaries) | indent(4) }}
        )
      )
    )
{%- endmacro %}
