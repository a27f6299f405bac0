{# Each flight that left late, with the time that its passengers waited: from when it was due to when it left. #}
select
    flight_id,
    carrier,
    destination,
    departs_at,
    left_at
from {{ ref('stg_flights') }}
where left_at > departs_at
