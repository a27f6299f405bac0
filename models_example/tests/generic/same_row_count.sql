{# Fails where the model and `as_relation` have different numbers of rows. #}
{% test same_row_count(model, as_relation) %}
select *
from (
    select
        (select count(*) from {{ model }}) as row_count,
        (select count(*) from {{ as_relation }}) as expected_row_count
)
where row_count <> expected_row_count
{% endtest %}
