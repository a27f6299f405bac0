{# Portable point-in-time form: both sides in one stream, sorted by key and time; each left row takes the right row last seen.
   Right rows travel as structs, so that a right row full of NULLs still counts as one (ignore nulls skips only the left rows).
   At equal times right rows come first, or last where `strict`; NULL keys and times of the right side never match and stay out.
   Where the row last seen is beyond `tolerance`, every earlier one is, too. #}
{% macro last_join_as_of(join) %}
  {%- set pairs = join.on + [{'left': join.as_of.left, 'right': join.as_of.right}] -%}
  {%- set ties = join.order[1:] -%}
  {%- set near = '__joinery_right.t >= ' ~ joinery.column('__joinery_left', join.as_of.left) ~ ' - ' ~ join.as_of.tolerance %}
select
  __joinery_left.*
  {%- for item in join.columns %},
  {% if join.as_of.tolerance %}if({{ near }}, __joinery_right.c{{ loop.index }}, null){% else %}__joinery_right.c{{ loop.index }}{% endif %} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}
from (
  select __joinery_left, last_value(__joinery_right, true) over (
    {%- if join.on %}
    partition by {% for key in join.on %}__joinery_k{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
    order by __joinery_k{{ pairs | length }}, __joinery_side
    {%- if ties %}, {{ joinery.order_sql(ties, joinery.numbered('__joinery_o', ties)) }}{% endif %}
    rows between unbounded preceding and current row) as __joinery_right
  from (
    select
      {%- for pair in pairs %}
      {{ joinery.column('l', pair.left) }} as __joinery_k{{ loop.index }},
      {%- endfor %}
      {%- for term in ties %} null as __joinery_o{{ loop.index }},{% endfor %}
      {{ 0 if join.as_of.strict else 1 }} as __joinery_side, struct(l.*) as __joinery_left, null as __joinery_right
    from {{ join.left }} as l
    union all
    {{ joinery.last_join_stream_of_right(join, pairs, ties) }}
  )
)
where __joinery_left is not null
{%- endmacro %}
