{# Step 3 for RANGE: the boundaries alone say which parts have frames that may reach a row. Part i holds values above q_i, so its frames
   start above q_i - below. If an offset overflows (b - below > b, or NULL), the part counts as reached: one copy too many is harmless,
   one too few is not. #}
{% macro split_expanded_range(window, boundaries) %}
  {%- set value = joinery.quoted(window.order[0].column) -%}
  {%- set asc = window.order[0].direction == 'asc' -%}
  {%- set below = joinery.halo_offset(window.frame.preceding if asc else window.frame.following, '-') -%}
  {%- set above = joinery.halo_offset(window.frame.following if asc else window.frame.preceding, '+') -%}
select *, __joinery_part <> __joinery_part_id as __joinery_expanded_row
    from (
      select *, explode(sequence(
        {%- if above %}
        if(__joinery_q is null or {{ value }} is null, __joinery_part, least(__joinery_part,
          size(filter(__joinery_q, __joinery_b -> __joinery_b{{ above }} < {{ value }} and __joinery_b{{ above }} >= __joinery_b)))),
        {%- else %}
        __joinery_part,
        {%- endif %}
        {%- if below %}
        if(__joinery_q is null or {{ value }} is null, __joinery_part, greatest(__joinery_part,
          size(filter(__joinery_q, __joinery_b -> coalesce(__joinery_b{{ below }} <= {{ value }} or __joinery_b{{ below }} > __joinery_b, true)))))
        {%- else %}
        __joinery_part
        {%- endif %})) as __joinery_part_id
      from (
        {{ joinery.split_tagged(window, boundaries) | indent(2) }}
      )
    )
{%- endmacro %}
