{# Fails unless the model's `incremental_strategy` replaces just the rows that `lookback` computes again. Otherwise these rows would be in
   the model twice, or all other rows would be lost. #}
{% macro check_replaces_rows(macro) %}
  {%- if not execute or model is not defined or model.config.materialized != 'incremental' -%}{{ return('') }}{%- endif -%}
  {%- set strategy = config.get('incremental_strategy') or 'append' -%}
  {%- set needed = {'merge': 'unique_key', 'insert_overwrite': 'partition_by', 'delete+insert': 'unique_key',
    'replace_where': 'incremental_predicates'} -%}
  {%- if strategy not in needed -%}
    {%- do joinery.fail(macro, 'lookback', "needs an `incremental_strategy` that replaces rows (" ~ needed.keys() | join(', ') ~ ", microbatch), but is used with " ~ strategy
      ~ ": rows that are computed again would come twice") -%}
  {%- elif not config.get(needed[strategy]) -%}
    {%- do joinery.fail(macro, 'lookback', "needs `" ~ needed[strategy] ~ "` under `incremental_strategy` " ~ strategy
      ~ ": it says which rows are replaced") -%}
  {%- endif -%}
{% endmacro %}
