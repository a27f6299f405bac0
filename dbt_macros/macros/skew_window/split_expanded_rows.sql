{# Step 3 for ROWS: the last rows of each part are copied to all later parts, as many as the frame reaches. A part smaller than the frame
   is copied whole. Rows of other parts need not be counted; that count would read the relation once more, and would have to agree with
   it. The number of rows to copy towards higher order values is `up`: PRECEDING under ASC, FOLLOWING under DESC. #}
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
