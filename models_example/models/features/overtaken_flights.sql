{# Would another flight have been the better choice? A late flight is overtaken by one to the same destination that is due
   to leave while it waits, and leaves before it. A window cannot count these flights: its reach would differ from flight
   to flight, and a flight that is due in that time may itself leave later. #}
with due_while_waiting as (
    {{ joinery.range_join(
        left=ref('delays'),
        right=ref('stg_flights'),
        left_interval=['departs_at', 'left_at'],
        right_point='departs_at',
        bounds='()',
        on=['destination'],
        columns=[{'column': 'left_at', 'alias': 'other_left_at'}]
    ) }}
)

select
    flight_id,
    carrier,
    destination,
    departs_at,
    left_at,
    count(*) as overtaken_by,
    timestampdiff(minute, min(other_left_at), left_at) as minutes_sooner
from due_while_waiting
where other_left_at < left_at
group by flight_id, carrier, destination, departs_at, left_at
