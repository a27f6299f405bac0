{# Quantiles computed in the query, if the nightly job has stored none. #}
{% macro split_inline_quantiles(window) %}
  {%- set shares = [] -%}
  {%- for i in range(1, window.parts) -%}{%- do shares.append(i / window.parts) -%}{%- endfor -%}
select {{ joinery.split_keys(window) }}count(*) as row_count, percentile_approx({{ window.order_columns[0] }}, array(
              {{- shares | join(', ') }}), {{ 100 * window.parts }}) as quantiles
            from {{ window.relation }}
            {%- if window.key_columns %}
            group by {{ window.key_columns | join(', ') }}
            {%- endif %}
{%- endmacro %}
