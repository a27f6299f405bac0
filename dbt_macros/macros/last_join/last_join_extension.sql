{# LAST JOIN for the jar, one after the other. The left alias is part of it: `x LAST JOIN y` without one runs as an inner join on
   stock Spark. #}
{% macro last_join_extension(left, joins) -%}
select
  l.*
  {%- for join in joins %}{% for item in join.columns %},
  {{ joinery.column(join.alias, item.column) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}{% endfor %}
from {{ left }} as l
{%- for join in joins %}
last join {{ join.right }} as {{ join.alias }}
  {%- if join.order %}
  order by {{ joinery.order_sql(join.order, joinery.order_columns(join.order, join.alias)) }}
  {%- endif %}
  on {{ joinery.last_join_condition(join, 'l', join.alias) }}
{%- endfor %}
{%- endmacro %}
