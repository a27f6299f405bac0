select
    flight_id,
    carrier,
    flight as flight_number,
    tailnum,
    origin,
    dest as destination,
    departs_at,
    timestampadd(minute, dep_delay, departs_at) as left_at,
    dep_delay as departure_delay,
    arr_delay as arrival_delay,
    dep_delay is null as is_cancelled
from {{ source('flights', 'flights') }}
