{# Quantiles from the distribution table. A foreign table may hold a key twice; first() keeps it from doubling rows. #}
{% macro split_stored_quantiles(window, boundaries) -%}
select {{ joinery.split_keys(window) }}first(row_count) as row_count, first(quantiles) as quantiles
            from {{ boundaries }}
            where quantiles is not null
            {%- if window.key_columns %}
            group by {{ window.key_columns | join(', ') }}
            {%- endif %}
{%- endmacro %}
