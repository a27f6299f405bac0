{# All left columns as SQL. Keys that both sides call alike stand first in right and full joins. A row without a left side has the right
   value in them, as under USING. #}
{% macro join_left_columns(join, left) %}
  {%- set keys, merged = [], [] -%}
  {%- for key in join.on if join.how in ['right', 'full'] and joinery.same_name(key.left, key.right) -%}
    {%- set of_right = joinery.column('r', key.right) -%}
    {%- do keys.append(key.left) -%}
    {%- do merged.append((of_right if join.how == 'right' else 'coalesce(' ~ joinery.column('l', key.left) ~ ', ' ~ of_right ~ ')')
      ~ ' as ' ~ joinery.quoted(key.left)) -%}
  {%- endfor -%}
  {%- if not keys -%}{{ return('l.*') }}{%- endif -%}
  {%- set others = joinery.columns_except(joinery.column_types(left).keys() | list, keys, 'l.') -%}
  {{ return((merged + ([others] if others else [])) | join(', ')) }}
{% endmacro %}
