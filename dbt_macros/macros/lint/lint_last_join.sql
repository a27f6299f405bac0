{# For on-run-start, and for `dbt run-operation joinery.lint_last_join`: warns of each node whose own SQL has a LAST JOIN without an alias
   of its left side. Stock Spark would run it as an inner join under the alias `last`. #}
{% macro lint_last_join() %}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- for node in graph.nodes.values() if node.raw_code is string and joinery.has_unaliased_last_join(node.raw_code) -%}
    {%- do exceptions.warn("joinery: " ~ node.original_file_path ~ " has a LAST JOIN without an alias of its left side, which Spark without the "
      ~ "Joinery jar runs as an inner join: write `from t as l last join ...`, or use joinery.last_join") -%}
  {%- endfor -%}
{% endmacro %}

{# True if SQL, with Jinja or without, has FROM, JOIN or a comma, then a table, a table function or a subquery, and then LAST JOIN.
   Comments, strings and IS DISTINCT FROM do not count. If the loop finds nothing, it replaces the innermost parentheses and searches
   again. #}
{% macro has_unaliased_last_join(sql) %}
  {%- if 'last' not in sql | lower -%}{{ return(false) }}{%- endif -%}
  {%- set string = '\'(?:[^\'\\\\]|\\\\.)*\'|"(?:[^"\\\\]|\\\\.)*"' -%}
  {%- set code = modules.re.sub('(?s)(' ~ string ~ ')|[{]#.*?#[}]|/[*].*?[*]/|--[^\\n]*', '\\1 ', sql) -%}
  {%- set code = modules.re.sub('(?is)' ~ string ~ '|\\bdistinct\\s+from\\b', '0', code) -%}
  {%- set word = '(?:[{][{](?:(?![}][}]).)*[}][}]|`(?:[^`]|``)+`|\\w)+' -%}
  {%- set parentheses = '\\[\\]' -%}
  {%- set side = '(?:' ~ word ~ '(?:[.]' ~ word ~ ')*(?:\\s*' ~ parentheses ~ '\\s*|\\s+|(?<=[}`]))|' ~ parentheses ~ '\\s*)' -%}
  {%- set part = '(?:tablesample\\s*' ~ parentheses ~ '\\s*|(?:version|timestamp)\\s+as\\s+of\\s+\\S+\\s+)*' -%}
  {%- set join = '(?is)(?:\\b(?:from|join)\\b|,)\\s*' ~ side ~ part ~ 'last\\s+join\\b' -%}
  {%- set state = namespace(code=code, found=false, last='') -%}
  {%- for _ in range(100) if not state.found and state.code != state.last -%}
    {%- set state.found = modules.re.search(join, state.code) is not none -%}
    {%- set state.last = state.code -%}
    {%- set state.code = modules.re.sub('[(][^()]*[)]', '[]', state.code) -%}
  {%- endfor -%}
  {{ return(state.found) }}
{% endmacro %}
