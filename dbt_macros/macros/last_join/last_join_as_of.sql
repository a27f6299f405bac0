{# Portable point-in-time form: one stream of all sides, sorted by key and time. Each left row takes the row of each right side that was
   seen last. Right rows travel as structs: `ignore nulls` skips a NULL struct, but not a right row full of NULLs. At equal times right
   rows come before left rows, or after them under `strict`. Right rows with a NULL key or time never match, and are left out. If the row
   seen last is beyond `tolerance`, all earlier ones are, too. Times that the comparison rounds are ordered as written. If the comparison
   may disorder times (may_disorder), __joinery_top is the row whose time as written is the last so far. #}
{% macro last_join_as_of(left, joins) %}
  {%- set pairs = joins[0].on + [joins[0].as_of] -%}
  {%- set disorders = joinery.may_disorder(joins[0]) -%}
  {%- set terms = [] -%}
  {%- for join in joins -%}
    {%- do terms.extend(joinery.order_terms_of_stream(join)) -%}
  {%- endfor %}
select
  __joinery_left.*
  {%- for join in joins %}{% for item in join.columns %},
  {{ joinery.taken_from_stream(join, 'c' ~ loop.index) }} as {{ joinery.quoted(item.alias) }}
  {%- endfor %}{% endfor %}
from (
  select
    __joinery_left
    {%- for join in joins %},
    last_value(__joinery_right{{ join.suffix }}, true) over stream as __joinery_right{{ join.suffix }}
    {%- endfor %}
    {%- if disorders %},
    last_value(__joinery_top, true) over stream as __joinery_top
    {%- endif %}
  from (
    {%- if disorders %}
    {%- set right = '__joinery_right' ~ joins[0].suffix %}
    select *, if({{ right }}.t < max({{ right }}.t) over stream, null, {{ right }}) as __joinery_top
    from (
    {%- endif %}
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
    {%- if disorders %}
    )
    window stream as ({{ joinery.order_of_stream(pairs, terms) }})
    {%- endif %}
  )
  window stream as ({{ joinery.order_of_stream(pairs, terms) }})
)
where __joinery_left is not null
{%- endmacro %}

{# The window over the stream: partitioned by the keys, ordered by time, by side, and by the terms that break ties. #}
{% macro order_of_stream(pairs, terms) -%}
    {%- if pairs | length > 1 %}
    partition by {% for key in pairs[:-1] %}__joinery_k{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
    order by __joinery_k{{ pairs | length }}, __joinery_side
    {%- if terms %}, {{ joinery.order_sql(terms, terms | map(attribute='name') | list) }}{% endif %}
    rows between unbounded preceding and current row
{%- endmacro %}

{# The order terms that break ties of time among the rows of one right side, each with a name for its column in the stream. The first term
   is the time as written, unless the comparison uses it unchanged. #}
{% macro order_terms_of_stream(join) %}
  {%- set type = joinery.type_of(join.right_types, join.as_of.right) -%}
  {%- set terms = [] -%}
  {%- for term in (join.order[1:] if type and type == joinery.type_of(join.left_types, join.as_of.left) else join.order) -%}
    {%- do terms.append(dict(term, name='__joinery_o' ~ loop.index ~ join.suffix, suffix=join.suffix)) -%}
  {%- endfor -%}
  {{ return(terms) }}
{% endmacro %}

{# A column of the row to take, or NULL if that row is too old. The row with the last time as written may be beyond `tolerance` while the
   row seen last is within it: then the row seen last is taken. #}
{% macro taken_from_stream(join, column) %}
  {%- set rows = (['__joinery_top'] if joinery.may_disorder(join) else []) + ['__joinery_right' ~ join.suffix] -%}
  {%- if join.as_of.tolerance is none -%}{{ return(rows[0] ~ '.' ~ column) }}{%- endif -%}
  {%- set oldest = joinery.column('__joinery_left', join.as_of.left) ~ join.as_of.tolerance -%}
  {%- set taken = namespace(sql='null') -%}
  {%- for row in rows | reverse -%}
    {%- set taken.sql = 'if(' ~ row ~ '.t >= ' ~ oldest ~ ', ' ~ row ~ '.' ~ column ~ ', ' ~ taken.sql ~ ')' -%}
  {%- endfor -%}
  {{ return(taken.sql) }}
{% endmacro %}
