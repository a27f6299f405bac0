{{ config(materialized='table') }}
{{ joinery.skew_window(
    relation=ref('flights'),
    partition_by=['carrier'],
    order_by=['departs_at'],
    frame={'type': 'range', 'preceding': '2 hours'},
    expressions=[
        {'name': 'flights_in_frame', 'expression': 'count(*)'},
        {'name': 'total_delay', 'expression': 'sum(dep_delay)'}
    ],
    distribution=ref('carrier_distribution')
) }}
