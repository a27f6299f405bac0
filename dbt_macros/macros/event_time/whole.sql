{# A relation without the filter by event time that dbt adds in microbatch and under `--sample`. A lookup also needs rows with times
   outside the batch. A CTE is returned as it is. #}
{% macro whole(macro, value) %}
  {%- if value is string or not value.event_time_filter -%}{{ return(value) }}{%- endif -%}
  {%- set table = value.replace(event_time_filter=none) -%}
  {%- do joinery.say_once(macro ~ " reads " ~ table.render() ~ " whole, without dbt's filter by event time") -%}
  {{ return(table) }}
{% endmacro %}

{# Logs a text about the present model once per run, although a microbatch model is rendered for each batch. #}
{% macro say_once(text) %}
  {%- set text = "joinery: " ~ (model.name ~ ": " if model is defined else "") ~ text -%}
  {%- set said = graph.setdefault('joinery_said', {}) -%}
  {%- if said.get(text) != invocation_id -%}
    {%- do said.update({text: invocation_id}) -%}
    {%- do log(text, info=true) -%}
  {%- endif -%}
{% endmacro %}
