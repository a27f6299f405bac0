{# The flight before is one of the same plane, so the plane of a flight tells whether the flight belongs here. #}
select *
from (
    select
        (select count(*) from {{ ref('flights_by_manufacturer') }}) as row_count,
        (
            select count(*) from {{ ref('flight_features') }}
            where previous_flight_id is not null
                and tailnum in (
                    select tailnum from {{ source('nycflights', 'planes') }}
                    where manufacturer = '{{ var("manufacturer") }}'
                )
        ) as expected_row_count
)
where row_count <> expected_row_count or row_count = 0
