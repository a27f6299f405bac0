{# The window as one would write it, with a hint for the jar if there is one. An expression may end in a comment, so a line break follows
   it. #}
{% macro plain_window(window, hint='') %}
select{{ hint }}
  *
  {%- for item in window.expressions %},
  {{ item.expression }}
    over w as {{ joinery.quoted(item.name) }}
  {%- endfor %}
from {{ window.relation }}
window w as ({{ joinery.window_sql(window, window.key_columns) }})
{%- endmacro %}
