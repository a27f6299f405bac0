{# Rows where `column_name` is later than the column `than`; NULLs are not. #}
{% test not_later_than(model, column_name, than) %}
select * from {{ model }}
where {{ column_name }} > {{ than }}
{% endtest %}
