{# Aggregates over a sliding window, a hot key computed in parts. Arguments: see skew_window.yml. #}
{% macro skew_window(relation=none, partition_by=none, order_by=none, frame=none, expressions=none, distribution=none, parts=none,
                     lookback=none) %}
  {{ return(adapter.dispatch('skew_window', 'joinery')(
    relation=relation, partition_by=partition_by, order_by=order_by, frame=frame, expressions=expressions, distribution=distribution,
    parts=parts, lookback=lookback, unknown=kwargs)) }}
{% endmacro %}

{% macro spark__skew_window(relation, partition_by, order_by, frame, expressions, distribution, parts, lookback, unknown) %}
  {%- do joinery.check_arguments('skew_window', {'relation': relation, 'partition_by': partition_by, 'order_by': order_by,
    'frame': frame, 'expressions': expressions}, ['distribution', 'parts', 'lookback'], unknown) -%}
  {%- set given = joinery.as_relation(relation) -%}
  {%- set relation = joinery.whole('skew_window', given) -%}
  {%- set distribution = joinery.whole('skew_window', joinery.as_relation(distribution)) -%}
  {%- set window = joinery.read_window(relation, partition_by, order_by, frame, expressions, 8 if parts is none else parts) -%}
  {%- if distribution is not none and distribution != 'auto' -%}
    {%- do joinery.read_relation('skew_window', 'distribution', distribution) -%}
  {%- endif -%}
  {%- if given is not string and given.event_time_filter -%}
    {%- set window = joinery.batch_window(window, joinery.column_types(relation), given.event_time_filter) -%}
  {%- endif -%}
  {%- set watermark = joinery.window_watermark(window, lookback) -%}
  {%- if watermark -%}
    {%- set window = dict(window, relation=joinery.with_halo(window, watermark)) -%}
  {%- endif -%}
  {%- if joinery.mode() == 'extension' -%}
    {%- set sql = joinery.plain_window(window, '' if parts is none else ' /*+ skew_window(' ~ parts ~ ') */') -%}
  {%- else -%}
    {%- set sql = joinery.portable_window(window, relation, distribution) -%}
  {%- endif -%}
  {%- set sql = joinery.new_rows_of(sql, window, watermark) if watermark else sql -%}
  {%- if given is not string and given.event_time_filter -%}
    {%- set sql = 'select * from ' ~ given.render_event_time_filtered('(\n' ~ sql | trim ~ '\n)') -%}
  {%- endif -%}
  {{ return(sql) }}
{% endmacro %}

{% macro default__skew_window() %}
  {{ return(joinery.needs_spark('skew_window', varargs, kwargs)) }}
{% endmacro %}
