{# The file holds one wind of 1,048 mph (EWR, 12 February): nothing above 200 mph is a measurement. #}
with measured as (
    select
        origin,
        time_hour as observed_at,
        temp as temperature,
        if(wind_speed <= 200, wind_speed, null) as wind_speed,
        if(wind_gust <= 250, wind_gust, null) as wind_gust,
        precip as precipitation,
        visib as visibility
    from {{ source('nycflights', 'weather') }}
)

select
    *,
    coalesce(wind_speed >= 25 or wind_gust >= 40 or precipitation >= 0.1, false) as is_stormy
from measured
