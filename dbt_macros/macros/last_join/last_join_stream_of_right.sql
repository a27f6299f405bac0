{# The right half of the union in last_join_as_of. #}
{% macro last_join_stream_of_right(join, pairs, ties) -%}
select
      {%- for pair in pairs %}
      {{ joinery.in_common_type(join, pair) }} as __joinery_k{{ loop.index }},
      {%- endfor %}
      {%- for term in ties %}
      {{ joinery.column('r', term.column) }} as __joinery_o{{ loop.index }},
      {%- endfor %}
      {{ 1 if join.as_of.strict else 0 }} as __joinery_side, null as __joinery_left, struct(
        {%- for item in join.columns %}{{ joinery.column('r', item.column) }} as c{{ loop.index }}{{ ', ' if not loop.last }}{% endfor -%}
        {%- if join.as_of.tolerance %}, {{ joinery.column('r', join.as_of.right) }} as t{% endif -%}
      ) as __joinery_right
    from {{ join.right }} as r
    where {% for pair in pairs %}{{ joinery.column('r', pair.right) }} is not null{{ ' and ' if not loop.last }}{% endfor %}
{%- endmacro %}
