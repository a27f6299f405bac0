{# The arguments of skew_window, checked, as one mapping; keys and order as SQL fragments where every step needs them. #}
{% macro read_window(relation, partition_by, order_by, frame, expressions, parts) %}
  {%- set sql = joinery.read_relation('skew_window', 'relation', relation) -%}
  {%- do joinery.check_list('skew_window', 'partition_by', partition_by) -%}
  {%- set keys = [] -%}
  {%- for name in partition_by -%}
    {%- do joinery.check_column('skew_window', 'partition_by', name) -%}
    {%- do keys.append(joinery.quoted(name)) -%}
  {%- endfor -%}
  {%- set order = joinery.read_order('skew_window', order_by) -%}
  {%- if not order -%}{%- do joinery.fail('skew_window', 'order_by', "is empty") -%}{%- endif -%}
  {%- set order_columns = [] -%}
  {%- for term in order -%}{%- do order_columns.append(joinery.quoted(term.column)) -%}{%- endfor -%}
  {%- if parts is not integer or parts < 2 or parts > 1024 -%}
    {%- do joinery.fail('skew_window', 'parts', "must be an integer from 2 to 1024, but is " ~ joinery.shown(parts)) -%}
  {%- endif -%}
  {{ return({'relation': sql, 'partition_by': partition_by, 'key_columns': keys, 'order': order, 'order_columns': order_columns, 'parts': parts,
    'frame': joinery.read_frame(frame, order), 'expressions': joinery.read_expressions(expressions)}) }}
{% endmacro %}
