{# Gaps and islands: stormy hours that follow each other at one airport share the number of hours before them minus
   their rank, and become one storm. The end is exclusive: an hour's observation holds until the next hour. #}
with stormy_hours as (
    select
        origin,
        observed_at,
        wind_speed,
        precipitation,
        unix_seconds(observed_at) div 3600
            - row_number() over (partition by origin order by observed_at) as island
    from {{ ref('stg_weather') }}
    where is_stormy
)

select
    concat(origin, date_format(min(observed_at), '-yyyyMMdd-HH')) as storm_id,
    origin,
    min(observed_at) as starts_at,
    max(observed_at) + interval 1 hour as ends_at,
    count(*) as hours,
    max(wind_speed) as max_wind_speed,
    sum(cast(precipitation as decimal(6, 2))) as precipitation
from stormy_hours
group by origin, island
