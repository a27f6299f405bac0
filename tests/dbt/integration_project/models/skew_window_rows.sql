{{ config(materialized='table') }}
{{ joinery.skew_window(
    relation=ref('flights'),
    partition_by=['carrier'],
    order_by=['departs_at', 'flight_id'],
    frame={'type': 'rows', 'preceding': 1},
    expressions=[
        {'name': 'flights_in_frame', 'expression': 'count(*)'},
        {'name': 'worst_delay', 'expression': 'max(dep_delay)'}
    ]
) }}
