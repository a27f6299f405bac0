{# For on-run-start, and for `dbt run-operation joinery.lint_last_join`: warns of each node whose own SQL has a LAST JOIN without an
   alias of its left side, which stock Spark would run as an inner join under the alias `last`. #}
{% macro lint_last_join() %}
  {{ return(adapter.dispatch('lint_last_join', 'joinery')()) }}
{% endmacro %}

{% macro spark__lint_last_join() %}
  {%- if not execute -%}{{ return('') }}{%- endif -%}
  {%- for node in graph.nodes.values() if node.raw_code is string and joinery.has_unaliased_last_join(node.raw_code) -%}
    {%- do exceptions.warn("joinery: " ~ node.original_file_path ~ " has a LAST JOIN without an alias of its left side, which Spark without the "
      ~ "Joinery jar runs as an inner join: write `from t as l last join ...`, or use joinery.last_join") -%}
  {%- endfor -%}
{% endmacro %}

{# Whether SQL, with Jinja or without, says FROM, JOIN or a comma, then a table, a table function or a subquery, and LAST JOIN. Comments
   do not count. Parentheses are followed three levels deep. #}
{% macro has_unaliased_last_join(sql) %}
  {%- if 'last' not in sql | lower -%}{{ return(false) }}{%- endif -%}
  {%- set code = modules.re.sub('(?s)[{]#.*?#[}]|/[*].*?[*]/|--[^\\n]*', ' ', sql) -%}
  {%- set name = '(?:[{][{](?:(?![}][}]).)*[}][}]|(?:`(?:[^`]|``)+`|\\w+)(?:[.](?:`(?:[^`]|``)+`|\\w+))*)' -%}
  {%- set parentheses = '[(](?:[^()]|[(](?:[^()]|[(][^()]*[)])*[)])*[)]' -%}
  {%- set side = '(?:' ~ name ~ '(?:\\s*' ~ parentheses ~ '\\s*|\\s+)|' ~ parentheses ~ '\\s*)' -%}
  {{ return(modules.re.search('(?is)(?:\\b(?:from|join)\\b|,)\\s*' ~ side ~ 'last\\s+join\\b', code) is not none) }}
{% endmacro %}
