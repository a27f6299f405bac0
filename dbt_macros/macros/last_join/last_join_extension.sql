{# A chain of LAST JOINs for the jar. The left side has an alias because stock Spark runs `x LAST JOIN y` without one as an inner join. #}
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
