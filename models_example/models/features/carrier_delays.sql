{# Delays of the carrier as of each flight: over its last 10,000 flights, this one included. The window reads the source itself, as the
   nightly refresh has computed where to cut the source's large carriers (`distribution='auto'`). #}
{{ joinery.skew_window(
    relation=source('flights', 'flights'),
    partition_by=['carrier'],
    order_by=['departs_at', 'flight_id'],
    frame={'type': 'rows', 'preceding': 9999},
    expressions=[
        {'name': 'flights_in_frame', 'expression': 'count(*)'},
        {'name': 'average_delay', 'expression': 'avg(dep_delay)'},
        {'name': 'worst_delay', 'expression': 'max(dep_delay)'},
        {'name': 'cancelled', 'expression': 'sum(int(dep_delay is null))'}
    ],
    distribution='auto'
) }}
