{# Each flight that left late, with the interval in which its passengers waited: from the scheduled departure to the real one. #}
select
    flight_id,
    carrier,
    destination,
    departs_at,
    left_at
from {{ ref('stg_flights') }}
where left_at > departs_at
