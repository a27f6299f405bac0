{# How much of a late arrival did the next flight inherit? The flights of one manufacturer's planes, nine of 3,322, each with the flight that its
   plane made next. The problem it shows: a selective join of two facts. Both have a row for each flight, so neither is broadcast, and
   Spark shuffles all rows of the second only to drop nearly all of them. A filter of the few flights drops these rows in the scan. #}
with earlier as (
    select
        flights.flight_id,
        flights.arrival_delay,
        planes.manufacturer,
        planes.model,
        planes.seats
    from {{ ref('stg_flights') }} as flights
    inner join {{ source('nycflights', 'planes') }} as planes
        on flights.tailnum = planes.tailnum
    where planes.manufacturer = '{{ var("manufacturer") }}'
)

{{ joinery.bloom_filter_join(
    left=ref('flight_features'),
    right='earlier',
    on=[{'left': 'previous_flight_id', 'right': 'flight_id'}],
    columns=[
        {'column': 'arrival_delay', 'alias': 'previous_arrival_delay'},
        'manufacturer',
        'model',
        'seats'
    ]
) }}
