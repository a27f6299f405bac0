{# Intervals [start, end) of one `partition_by` that begin before the one before them has ended, or end before they begin. #}
{% test no_overlap(model, partition_by, start, end) %}
select *
from (
    select
        *,
        lag({{ end }}) over (partition by {{ partition_by }} order by {{ start }}, {{ end }}) as end_before
    from {{ model }}
)
where {{ start }} < end_before or {{ end }} <= {{ start }}
{% endtest %}
