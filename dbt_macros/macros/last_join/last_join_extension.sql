{# LAST JOIN for the jar. The left alias is part of it: `x LAST JOIN y` without one runs as an inner join on stock Spark. #}
{% macro last_join_extension(join) %}
  {%- set order_columns = [] -%}
  {%- for term in join.order -%}
    {%- do order_columns.append(joinery.column('r', term.column)) -%}
  {%- endfor -%}
select
  l.*
  {%- for item in join.columns %},
  {{ joinery.column('r', item.column) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}
from {{ join.left }} as l
last join {{ join.right }} as r
  {%- if join.order %}
  order by {{ joinery.order_sql(join.order, order_columns) }}
  {%- endif %}
  on {{ joinery.last_join_condition(join, 'l', 'r') }}
{%- endmacro %}
