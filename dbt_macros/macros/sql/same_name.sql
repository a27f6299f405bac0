{# True if two names are the same column to the session. A query asks the session only if they differ in nothing but case. #}
{% macro same_name(one, other) %}
  {%- if one == other or one | lower != other | lower -%}{{ return(one == other) }}{%- endif -%}
  {{ return(not joinery.is_case_sensitive()) }}
{% endmacro %}

{# True if a list of names has one that is the same column. #}
{% macro has_name(names, name) %}
  {%- for other in names if joinery.same_name(other, name) -%}{{ return(true) }}{%- endfor -%}
  {{ return(false) }}
{% endmacro %}

{# spark.sql.caseSensitive of the session, asked once per run; false while parsing, when no query can run. A query asks, and not SET, as
   not every warehouse shows its settings. If case matters, `A` is the column, as it cannot be the lambda's `a`. #}
{% macro is_case_sensitive() %}
  {%- if not execute -%}{{ return(false) }}{%- endif -%}
  {%- set known = graph.get('joinery_case', {}) -%}
  {%- if known.get('run') != invocation_id -%}
    {%- set known = {'run': invocation_id, 'is_sensitive': run_query('select element_at(transform(array(1), a -> A), 1) from (select 0 as A)').rows[0][0] | int == 0} -%}
    {%- do graph.update({'joinery_case': known}) -%}
  {%- endif -%}
  {{ return(known.is_sensitive) }}
{% endmacro %}
