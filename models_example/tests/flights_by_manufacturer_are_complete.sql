select *
from (
    select
        (select count(*) from {{ ref('flights_by_manufacturer') }}) as row_count,
        (
            select count(*) from {{ ref('stg_flights') }}
            where tailnum in (
                select tailnum from {{ source('nycflights', 'planes') }}
                where manufacturer = '{{ var("manufacturer") }}'
            )
        ) as expected_row_count
)
where row_count <> expected_row_count or row_count = 0
