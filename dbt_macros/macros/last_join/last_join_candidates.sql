{# FROM and WHERE of last_join_ranked: the right rows. Under `as_of`, a right row comes once for each distinct left key and times that it
   matches. #}
{% macro last_join_candidates(left, join, pairs) -%}
  {%- if join.as_of -%}
    from (
      select distinct {% for name in pairs | map(attribute='left') | unique %}{{ joinery.column('l', name) }}{{ ', ' if not loop.last }}{% endfor %}
      from {{ left }} as l
    ) as p
    join {{ join.right }} as r on {{ joinery.last_join_condition(join, 'p', 'r') }}
  {%- else -%}
    from {{ join.right }} as r
    where {% for pair in pairs %}{{ joinery.column('r', pair.right) }} is not null{{ ' and ' if not loop.last }}{% endfor %}
  {%- endif -%}
{%- endmacro %}
