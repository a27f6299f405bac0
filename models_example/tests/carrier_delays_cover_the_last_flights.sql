{# The frame grows by one flight per flight and stays at 10,000. #}
with numbered as (
    select
        flights_in_frame,
        row_number() over (partition by carrier order by departs_at, flight_id) as flights_so_far
    from {{ ref('carrier_delays') }}
)

select * from numbered
where flights_in_frame <> least(flights_so_far, 10000)
