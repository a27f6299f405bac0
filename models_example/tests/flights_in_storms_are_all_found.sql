{# The same flights found another way: storms consist of whole stormy hours, so an ordinary join on the hour will do. #}
with expected as (
    select flights.flight_id
    from {{ ref('stg_flights') }} as flights
    inner join {{ ref('stg_weather') }} as weather
        on
            flights.origin = weather.origin
            and date_trunc('hour', flights.departs_at) = weather.observed_at
    where weather.is_stormy
),

found as (
    select flight_id from {{ ref('flights_in_storms') }}
)

(select * from expected except all select * from found)
union all
(select * from found except all select * from expected)
