select *
from (
    select
        (select sum(hours) from {{ ref('storms') }}) as hours_of_storms,
        (select count(*) from {{ ref('stg_weather') }} where is_stormy) as stormy_hours
)
where hours_of_storms <> stormy_hours
