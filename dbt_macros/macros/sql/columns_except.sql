{# All columns of a side except the hidden ones. They are listed if they are known, as `* except` came with Spark 4.0. `prefix` is the
   alias of the side with a dot. #}
{% macro columns_except(known, hidden, prefix='') %}
  {%- set shown = [] -%}
  {%- for name in known if not joinery.has_name(hidden, name) -%}{%- do shown.append(prefix ~ joinery.quoted(name)) -%}{%- endfor -%}
  {%- if known -%}{{ return(shown | join(', ')) }}{%- endif -%}
  {%- set quoted = [] -%}
  {%- for name in hidden -%}{%- do quoted.append(joinery.quoted(name)) -%}{%- endfor -%}
  {{ return(prefix ~ '* except (' ~ quoted | join(', ') ~ ')') }}
{% endmacro %}
