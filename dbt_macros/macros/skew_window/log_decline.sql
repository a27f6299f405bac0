{# Says why a window is not split. #}
{% macro log_decline(window, reason) %}
  {%- do log("joinery: skew_window over " ~ window.relation ~ " is not split: " ~ reason) -%}
{% endmacro %}
