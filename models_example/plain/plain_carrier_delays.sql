{# Run with Spark's defaults: one task per carrier, and the whole frame is added up again for every flight. #}
select
    *,
    count(*) over last_flights as flights_before,
    avg(departure_delay) over last_flights as average_delay,
    max(departure_delay) over last_flights as worst_delay,
    sum(int(is_cancelled)) over last_flights as cancelled
from {{ ref('stg_flights') }}
window last_flights as (
    partition by carrier
    order by departs_at, flight_id
    rows between 10000 preceding and 1 preceding
)
