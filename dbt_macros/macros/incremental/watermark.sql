{# The time from which an incremental run computes rows; none in a full run, or if the model has no time yet. It is a SQL literal, so that
   Spark need not read the files of older rows. A unit test gives `this` as the name of a CTE, and the time is a subquery; without an
   `input: this` the macro fails. further_back: SQL such as ' - interval 2 hours', also subtracted before the time is truncated to the
   whole unit. #}
{% macro watermark(macro, lookback, column, further_back='') %}
  {%- set back = joinery.read_lookback(macro, lookback) -%}
  {%- if model is defined and config.get('incremental_strategy') == 'microbatch' -%}
    {%- do joinery.say_once("`lookback` of " ~ macro ~ " does nothing: batches of microbatch are what a run computes, and dbt's own config "
      ~ "`lookback` says how many it computes again") -%}
    {{ return(none) }}
  {%- endif -%}
  {%- do joinery.check_replaces_rows(macro) -%}
  {%- if not execute or model is not defined or not is_incremental() -%}{{ return(none) }}{%- endif -%}
  {%- if this is none -%}
    {%- do joinery.fail(macro, 'lookback', "needs `input: this` among what a unit test of an incremental run is given: "
      ~ "its newest row says where to begin") -%}
  {%- elif this is not string and joinery.type_of(joinery.column_types(this), column) is none -%}
    {%- do joinery.fail(macro, 'lookback', "needs the column `" ~ column ~ "` in the model itself, whose newest row says where to begin: "
      ~ "select it, or build the model again with --full-refresh") -%}
  {%- endif -%}
  {%- set start = 'max(' ~ joinery.quoted(column) ~ ') - ' ~ back.reach ~ further_back -%}
  {%- if back.whole -%}{%- set start = "date_trunc('" ~ back.whole ~ "', " ~ start ~ ')' -%}{%- endif -%}
  {%- if this is string -%}{{ return('(select ' ~ start ~ ' from ' ~ this ~ ')') }}{%- endif -%}
  {%- set found = run_query('select cast(' ~ start ~ ' as string), typeof(' ~ start ~ ') from ' ~ joinery.quoted_relation(this)).rows[0] -%}
  {{ return("cast('" ~ found[0] ~ "' as " ~ found[1] ~ ')' if found[0] is not none else none) }}
{% endmacro %}
