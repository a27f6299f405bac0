{# The window as one would write it. #}
{% macro plain_window(window) %}
select
  *
  {%- for item in window.expressions %},
  {{ item.expression }} over w as {{ joinery.quoted(item.name) }}
  {%- endfor %}
from {{ window.relation }}
window w as ({{ joinery.window_sql(window, window.key_columns) }})
{%- endmacro %}
