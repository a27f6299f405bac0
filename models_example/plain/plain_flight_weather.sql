{# Left join, then dedup: every flight is first paired with all earlier observations of its airport. #}
select * except (latest)
from (
    select
        flights.*,
        weather.observed_at,
        weather.temperature,
        weather.wind_speed,
        weather.precipitation,
        weather.visibility,
        row_number() over (partition by flights.flight_id order by weather.observed_at desc) as latest
    from {{ ref('stg_flights') }} as flights
    left join {{ ref('stg_weather') }} as weather
        on
            flights.origin = weather.origin
            and weather.observed_at <= flights.departs_at
)
where latest = 1
