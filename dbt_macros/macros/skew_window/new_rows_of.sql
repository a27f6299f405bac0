{# The result of a window without the halo rows, which are in the model already. #}
{% macro new_rows_of(sql, window, watermark) -%}
select *
from (
  {{ sql | trim | indent(2) }}
)
where {{ joinery.is_new(window.order[0].column, watermark) }}
{%- endmacro %}
