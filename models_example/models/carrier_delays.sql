{# What was known about the carrier before this flight: its last 10,000 flights, without this one. #}
{{ joinery.skew_window(
    relation=ref('stg_flights'),
    partition_by=['carrier'],
    order_by=['departs_at', 'flight_id'],
    frame='rows between 10000 preceding and 1 preceding',
    expressions={
        'flights_before': 'count(*)',
        'average_delay': 'avg(departure_delay)',
        'worst_delay': 'max(departure_delay)',
        'cancelled': 'sum(int(is_cancelled))'
    },
    distribution=source('flights', 'flights')
) }}
