{# A selective join: nine planes of the manufacturer out of 3,322, so nearly no flight is kept. #}
select
    flights.flight_id,
    flights.carrier,
    flights.departs_at,
    flights.departure_delay,
    flights.tailnum,
    planes.manufacturer,
    planes.model,
    planes.seats
from {{ ref('stg_flights') }} as flights
inner join {{ source('nycflights', 'planes') }} as planes
    on flights.tailnum = planes.tailnum
where planes.manufacturer = '{{ var("manufacturer") }}'
