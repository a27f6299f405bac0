select
    features.*,
    earlier.arrival_delay as previous_arrival_delay,
    planes.manufacturer,
    planes.model,
    planes.seats
from {{ ref('flight_features') }} as features
inner join {{ ref('stg_flights') }} as earlier
    on features.previous_flight_id = earlier.flight_id
inner join {{ source('nycflights', 'planes') }} as planes
    on earlier.tailnum = planes.tailnum
where planes.manufacturer = '{{ var("manufacturer") }}'
