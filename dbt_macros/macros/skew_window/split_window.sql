{# A skewed window in five steps: (1) boundaries for each hot key (split_boundaries); (2) PART_ID by broadcast join (split_tagged); (3)
   halo rows, copied as EXPANDED_ROW to the parts whose frames need them (split_expanded_*); (4) the window by keys and PART_ID; (5) the
   copies dropped. One pass decides the part of each row, and counts the copies in the rows themselves. Boundaries that are stale, foreign
   or different on each evaluation therefore change the balance, never a result. An expression may end in a comment, so a line break
   follows it. #}
{% macro split_window(window, boundaries) %}
  {%- set hidden = ['__joinery_q', '__joinery_part', '__joinery_first', '__joinery_last', '__joinery_part_id', '__joinery_expanded_row']
    + (['__joinery_up', '__joinery_down'] if window.frame.type == 'rows' else []) -%}
  {%- set known = window.types.keys() | list + window.expressions | map(attribute='name') | list if window.types else [] -%}
select {{ joinery.columns_except(known, hidden) }}
from (
  select
    *
    {%- for item in window.expressions %},
    {{ item.expression }}
      over w as {{ joinery.quoted(item.name) }}
    {%- endfor %}
  from (
    {{ joinery.split_expanded_rows(window, boundaries) if window.frame.type == 'rows'
       else joinery.split_expanded_range(window, boundaries) }}
  )
  window w as ({{ joinery.window_sql(window, window.key_columns + ['__joinery_part_id']) }})
)
where not __joinery_expanded_row
{%- endmacro %}
