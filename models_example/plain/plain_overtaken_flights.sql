{# Every flight is paired with all flights to its destination, and only then are their times compared. #}
select
    late.flight_id,
    late.carrier,
    late.destination,
    late.departs_at,
    late.left_at,
    count(*) as overtaken_by,
    timestampdiff(minute, min(other.left_at), late.left_at) as minutes_sooner
from {{ ref('stg_flights') }} as late
inner join {{ ref('stg_flights') }} as other
    on
        late.destination = other.destination
        and other.departs_at > late.departs_at
        and other.departs_at < late.left_at
        and other.left_at < late.left_at
group by late.flight_id, late.carrier, late.destination, late.departs_at, late.left_at
