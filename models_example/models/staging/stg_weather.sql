{# The file holds one wind of 1,048 mph (EWR, 12 February): nothing above 200 mph is a measurement. #}
select
    origin,
    time_hour as observed_at,
    temp as temperature,
    if(wind_speed <= 200, wind_speed, null) as wind_speed,
    precip as precipitation,
    visib as visibility
from {{ source('nycflights', 'weather') }}
