{# Rows where `column_name` is missing or outside [start, end). #}
{% test within(model, column_name, start, end) %}
select * from {{ model }}
where not coalesce({{ column_name }} >= {{ start }} and {{ column_name }} < {{ end }}, false)
{% endtest %}
