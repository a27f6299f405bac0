select
    flights.*,
    storms.storm_id,
    storms.starts_at,
    storms.ends_at
from {{ ref('stg_flights') }} as flights
inner join {{ ref('storms') }} as storms
    on
        flights.origin = storms.origin
        and flights.departs_at >= storms.starts_at
        and flights.departs_at < storms.ends_at
