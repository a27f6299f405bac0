{# Step 2: every row with its part, and the first and last part of its key. The part is the number of boundaries strictly below the row's
   order value, so that ties stay together. NULL order values are a part of their own at their end of the order. Boundaries and keys of
   other types are ignored: a cast could put boundaries out of order, or match one row with two keys. #}
{% macro split_tagged(window, boundaries) %}
  {%- set value = joinery.column('t', window.order[0].column) -%}
  {%- set nulls_low = (window.order[0].direction == 'asc') == (window.order[0].nulls == 'first') -%}
  {%- set first = '-1' if nulls_low else '0' -%}
  {%- set last = 'size(d.q)' if nulls_low else 'size(d.q) + 1' -%}
select /*+ broadcast(d) */ t.*, d.q as __joinery_q,
        case when d.q is null then 0 when {{ value }} is null then {{ first if nulls_low else last -}}
        {#- #} else size(filter(d.q, __joinery_b -> __joinery_b < {{ value }})) end as __joinery_part,
        if(d.q is null, 0, {{ first }}) as __joinery_first, if(d.q is null, 0, {{ last }}) as __joinery_last
      from {{ window.relation }} as t
      left join (
        {{ joinery.split_boundaries(window, boundaries) }}
      ) as d
        on typeof(d.q) = concat('array<', typeof({{ value }}), '>')
        {%- for key in window.key_columns %}
        and t.{{ key }} <=> d.k{{ loop.index }}{{ ' and typeof(t.' ~ key ~ ') = typeof(d.k' ~ loop.index ~ ')' if boundaries }}
        {%- endfor %}
{%- endmacro %}
