{# A relation without the filter by event time that dbt puts on it in a batch of microbatch and under `--sample`: rows are looked up in it
   whose times are others than those of the batch. A CTE stays what it is. #}
{% macro whole(macro, value) %}
  {%- if value is string or not value.event_time_filter -%}{{ return(value) }}{%- endif -%}
  {%- set table = value.replace(event_time_filter=none) -%}
  {%- do joinery.say_once(macro ~ " reads " ~ table.render() ~ " whole, without dbt's filter by event time") -%}
  {{ return(table) }}
{% endmacro %}

{# Says something about the present model in the log, once per run: a microbatch model is rendered for each batch. #}
{% macro say_once(text) %}
  {%- set text = "joinery: " ~ (model.name ~ ": " if model is defined else "") ~ text -%}
  {%- set said = graph.setdefault('joinery_said', {}) -%}
  {%- if said.get(text) != invocation_id -%}
    {%- do said.update({text: invocation_id}) -%}
    {%- do log(text, info=true) -%}
  {%- endif -%}
{% endmacro %}
