{# The rows of one right side in the union of last_join_as_of, with NULL in the order terms of the other right sides. #}
{% macro last_join_stream_of_right(left, join, joins, terms) -%}
{%- set pairs = join.on + [join.as_of] -%}
select
      {%- for pair in pairs %}
      {{ joinery.in_common_type(left, join, pair) }} as __joinery_k{{ loop.index }},
      {%- endfor %}
      {%- for term in terms %}
      {{ joinery.column('r', term.column) if term.suffix == join.suffix else 'null' }} as {{ term.name }},
      {%- endfor %}
      {{ 2 if join.as_of.strict else 0 }} as __joinery_side, null as __joinery_left
      {%- for other in joins %},
      {%- if other.suffix == join.suffix %} struct(
        {%- for item in join.columns %}{{ joinery.column('r', item.column) }} as c{{ loop.index }}{{ ', ' if not loop.last }}{% endfor -%}
        {%- if join.as_of.tolerance or joinery.may_disorder(join) %}, {{ joinery.column('r', join.as_of.right) }} as t{% endif -%}
      ){% else %} null{% endif %} as __joinery_right{{ other.suffix }}
      {%- endfor %}
    from {{ join.right }} as r
    where {% for pair in pairs %}{{ joinery.in_common_type(left, join, pair) }} is not null{{ ' and ' if not loop.last }}{% endfor %}
{%- endmacro %}
