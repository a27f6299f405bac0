{# Step 1: for each key worth splitting, q, the inner boundaries between its parts. Under a ROWS frame, n parts receive up to n * (n - 1)
   / 2 * frame copies. n keeps the copies below a quarter of the key's rows. #}
{% macro split_boundaries(window, boundaries) %}
  {%- set frame_rows = [window.frame.preceding + window.frame.following, 1] | max if window.frame.type == 'rows' else none -%}
  {%- set min_rows = joinery.read_min_part_rows() -%}
select {% for key in window.key_columns %}k{{ loop.index }}, {% endfor %}transform(
          sequence(1, parts - 1), i -> get(quantiles, cast(i * (size(quantiles) + 1) / parts as int) - 1)) as q
        from (
          select *, least({{ window.parts }}, size(quantiles) + 1, cast(row_count / {{ min_rows }} as int)
            {%- if frame_rows %}, cast(0.5 + sqrt(0.25 + row_count / {{ 2 * frame_rows }}) as int){% endif %}) as parts
          from (
            {{ joinery.split_stored_quantiles(window, boundaries) if boundaries else joinery.split_inline_quantiles(window) }}
          )
        )
        where parts > 1
{%- endmacro %}
