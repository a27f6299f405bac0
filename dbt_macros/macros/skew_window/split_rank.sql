{# row_number, or 1 if the frame does not reach that way, so that nothing need be sorted. #}
{% macro split_rank(reach, partition, order) %}
  {{- return('row_number() over (partition by ' ~ partition ~ ' order by ' ~ order ~ ')' if reach else '1') -}}
{% endmacro %}
