{# Portable point-in-time form: all sides in one stream, sorted by key and time; each left row takes the row of each right side last
   seen. Right rows travel as structs, so that a right row full of NULLs still counts as one (ignore nulls skips only the others).
   At equal times right rows come first, or last where `strict`; NULL keys and times of the right side never match and stay out.
   Where the row last seen is beyond `tolerance`, every earlier one is, too. #}
{% macro last_join_as_of(left, joins) %}
  {%- set pairs = joins[0].on + [joins[0].as_of] -%}
  {%- set terms = [] -%}
  {%- for join in joins -%}
    {%- do terms.extend(joinery.order_terms_of_stream(join)) -%}
  {%- endfor %}
select
  __joinery_left.*
  {%- for join in joins %}{% for item in join.columns %},
  {{ joinery.taken_from_stream(join, '__joinery_right' ~ join.suffix ~ '.c' ~ loop.index) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}{% endfor %}
from (
  select
    __joinery_left
    {%- for join in joins %},
    last_value(__joinery_right{{ join.suffix }}, true) over stream as __joinery_right{{ join.suffix }}
    {%- endfor %}
  from (
    select
      {%- for pair in pairs %}
      {{ joinery.column('l', pair.left) }} as __joinery_k{{ loop.index }},
      {%- endfor %}
      {%- for term in terms %} null as {{ term.name }},{% endfor %}
      1 as __joinery_side, struct(l.*) as __joinery_left
      {%- for join in joins %}, null as __joinery_right{{ join.suffix }}{% endfor %}
    from {{ left }} as l
    {%- for join in joins %}
    union all
    {{ joinery.last_join_stream_of_right(left, join, joins, terms) }}
    {%- endfor %}
  )
  window stream as (
    {%- if joins[0].on %}
    partition by {% for key in joins[0].on %}__joinery_k{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
    order by __joinery_k{{ pairs | length }}, __joinery_side
    {%- if terms %}, {{ joinery.order_sql(terms, terms | map(attribute='name') | list) }}{% endif %}
    rows between unbounded preceding and current row)
)
where __joinery_left is not null
{%- endmacro %}

{# The order terms that break ties of time among the rows of one right side, each with a name for its column in the stream. #}
{% macro order_terms_of_stream(join) %}
  {%- set terms = [] -%}
  {%- for term in join.order[1:] -%}
    {%- do terms.append(dict(term, name='__joinery_o' ~ loop.index ~ join.suffix, suffix=join.suffix)) -%}
  {%- endfor -%}
  {{ return(terms) }}
{% endmacro %}

{# A column of the row last seen, unless that is too old. #}
{% macro taken_from_stream(join, column) %}
  {%- if not join.as_of.tolerance -%}{{ return(column) }}{%- endif -%}
  {{ return('if(__joinery_right' ~ join.suffix ~ '.t >= ' ~ joinery.column('__joinery_left', join.as_of.left) ~ ' - ' ~ join.as_of.tolerance
    ~ ', ' ~ column ~ ', null)') }}
{% endmacro %}
