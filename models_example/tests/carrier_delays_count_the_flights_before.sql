{# The frame starts empty, grows by one flight per flight and stays at 10,000. #}
with numbered as (
    select
        flights_before,
        row_number() over (partition by carrier order by departs_at, flight_id) - 1 as earlier_flights
    from {{ ref('carrier_delays') }}
)

select * from numbered
where flights_before <> least(earlier_flights, 10000)
