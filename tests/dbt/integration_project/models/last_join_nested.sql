with late as (
    select * from {{ ref('flights') }} where flight_id > 6
),

joined as (
    {{ joinery.last_join(
        left='late', right=ref('early_weather'), on=['origin'], order_by=['observed_at'], columns=['temperature']
    ) }}
)

select flight_id, temperature from joined
