{# Rows that one relation has more often than the other, NULL being equal to NULL. Names and order of their columns must agree, too. #}
{% test equality(model, compare_model) %}
  {%- if execute -%}
    {%- set found = adapter.get_columns_in_relation(model) | map(attribute='name') | list -%}
    {%- set expected = adapter.get_columns_in_relation(compare_model) | map(attribute='name') | list -%}
    {%- if found != expected -%}
      {{ exceptions.raise_compiler_error(model ~ ' has the columns ' ~ found ~ ', expected are ' ~ expected) }}
    {%- endif -%}
  {%- endif -%}
  select * except (surplus), sum(surplus) as surplus_rows
  from (select *, 1 as surplus from {{ model }} union all select *, -1 as surplus from {{ compare_model }})
  group by all
  having sum(surplus) <> 0
{% endtest %}
