{# Portable form for all other joins. A subquery keeps one right row for each key, or with as_of for each key and left times. The LEFT
   JOIN with that subquery therefore cannot multiply rows. #}
{% macro last_join_ranked(left, join) %}
  {%- set pairs = join.on + ([join.as_of] if join.as_of else []) + ([join.known_at] if join.known_at else []) -%}
  {%- set key_sql = [] -%}
  {%- for pair in pairs -%}
    {%- do key_sql.append(joinery.column('p', pair.left) if join.as_of else joinery.in_common_type(left, join, pair)) -%}
  {%- endfor -%}
  {%- set order_columns = joinery.order_columns(join.order, 'r') %}
select
  l.*
  {%- for item in join.columns %},
  r.c{{ loop.index }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}
from {{ left }} as l
left join (
  select * from (
    select
      {%- for sql in key_sql %}
      {{ sql }} as k{{ loop.index }},
      {%- endfor %}
      {%- for item in join.columns %}
      {{ joinery.column('r', item.column) }} as c{{ loop.index }},
      {%- endfor %}
      row_number() over (
        partition by {{ key_sql | join(', ') }}
        order by {{ joinery.order_sql(join.order, order_columns, reversed=true) if join.order else key_sql[0] }}
      ) as last_first
    {{ joinery.last_join_candidates(left, join, pairs) }}
  )
  where last_first = 1
) as r
  on {% for pair in pairs %}{{ joinery.column('l', pair.left) }} = r.k{{ loop.index }}{{ ' and ' if not loop.last }}{% endfor %}
{%- endmacro %}
