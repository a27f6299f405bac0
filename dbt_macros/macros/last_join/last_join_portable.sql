{# Plain Spark SQL in passes, one after the other. One pass joins right sides that share the keys and the time of the left side. #}
{% macro last_join_portable(left, joins) %}
  {%- set passes = joinery.last_join_passes(joins) -%}
  {%- set sources = [left] + joinery.numbered('__joinery_', passes) -%}
  {%- set rendered, ctes = [], [] -%}
  {%- for one in passes -%}
    {%- do rendered.append(joinery.last_join_as_of(sources[loop.index0], one) if joinery.is_stream(one[0])
      else joinery.last_join_ranked(sources[loop.index0], one[0])) -%}
  {%- endfor -%}
  {%- for sql in rendered[:-1] -%}
    {%- do ctes.append(sources[loop.index] ~ ' as (\n  ' ~ sql | trim | indent(2) ~ '\n)') -%}
  {%- endfor -%}
  {%- if not ctes -%}{{ return(rendered[-1] | trim) }}{%- endif -%}
  {#- in a subquery, because the model may have a WITH before it -#}
  {{ return('select * from (\n  ' ~ ('with ' ~ ctes | join(',\n') ~ '\n' ~ rendered[-1] | trim) | indent(2) ~ '\n)') }}
{% endmacro %}

{# The right sides as a list of passes. A pass is a list of one right side, or of consecutive ones that share a sorted stream. #}
{% macro last_join_passes(joins) %}
  {%- set passes = [] -%}
  {%- for join in joins -%}
    {%- if passes and joinery.share_stream(passes[-1][0], join) -%}
      {%- do passes[-1].append(join) -%}
    {%- else -%}
      {%- do passes.append([join]) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(passes) }}
{% endmacro %}

{# True if the last right row before a left row, in the order of time, is always the answer. Another order makes it false, and so do
   `valid_to` and `known_at`: the last row may have ended, or not been known, and an earlier one counts. CHAR columns of two lengths make
   no stream, as SQL pads them in comparisons only. #}
{% macro is_stream(join) %}
  {%- if join.as_of -%}
    {%- set types = [joinery.type_of(join.left_types, join.as_of.left), joinery.type_of(join.right_types, join.as_of.right)] -%}
    {%- if types[0] != types[1] and joinery.char_length(types[0]) and joinery.char_length(types[1]) -%}{{ return(false) }}{%- endif -%}
  {%- endif -%}
  {{ return(true if join.as_of and not join.valid_to and not join.known_at and join.order[0].direction == 'asc'
    and joinery.same_name(join.order[0].column, join.as_of.right) else false) }}
{% endmacro %}

{# True if two right sides are joined by the same left columns, and all columns compared have the same type on both sides. Otherwise the
   union of the stream would widen its columns to a third type, in which keys that differ may become equal. #}
{% macro share_stream(one, other) %}
  {%- if not joinery.is_stream(one) or not joinery.is_stream(other) -%}{{ return(false) }}{%- endif -%}
  {%- set columns = [] -%}
  {%- for join in [one, other] -%}
    {%- set pairs = join.on + [join.as_of] -%}
    {%- do columns.append(pairs | map(attribute='left') | list) -%}
    {%- for pair in pairs -%}
      {%- set type = joinery.type_of(join.left_types, pair.left) -%}
      {%- if not type or type != joinery.type_of(join.right_types, pair.right) -%}{{ return(false) }}{%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if columns[0] | length != columns[1] | length -%}{{ return(false) }}{%- endif -%}
  {%- for n in range(columns[0] | length) if not joinery.same_name(columns[0][n], columns[1][n]) -%}
    {{ return(false) }}
  {%- endfor -%}
  {{ return(true) }}
{% endmacro %}
