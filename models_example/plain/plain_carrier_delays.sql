{# Run with Spark's defaults: one task per carrier, and the whole frame is added up again for every flight. #}
select
    *,
    count(*) over last_flights as flights_in_frame,
    avg(dep_delay) over last_flights as average_delay,
    max(dep_delay) over last_flights as worst_delay,
    sum(int(dep_delay is null)) over last_flights as cancelled
from {{ source('flights', 'flights') }}
window last_flights as (
    partition by carrier
    order by departs_at, flight_id
    rows between 9999 preceding and current row
)
