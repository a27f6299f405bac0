{# The same flights found another way: a delay is repeated for each hour that it touches, so an ordinary join on the hour
   is enough. #}
with delayed_hours as (
    select
        flight_id,
        destination,
        departs_at,
        left_at,
        explode(sequence(date_trunc('hour', departs_at), date_trunc('hour', left_at), interval 1 hour)) as delayed_hour
    from {{ ref('stg_flights') }}
    where left_at > departs_at
),

expected as (
    select
        late.flight_id,
        count(*) as overtaken_by,
        timestampdiff(minute, min(other.left_at), max(late.left_at)) as minutes_sooner
    from delayed_hours as late
    inner join {{ ref('stg_flights') }} as other
        on
            late.destination = other.destination
            and late.delayed_hour = date_trunc('hour', other.departs_at)
    where
        other.departs_at > late.departs_at
        and other.departs_at < late.left_at
        and other.left_at < late.left_at
    group by late.flight_id
),

found as (
    select flight_id, overtaken_by, minutes_sooner from {{ ref('overtaken_flights') }}
)

(select * from expected except all select * from found)
union all
(select * from found except all select * from expected)
