{# Features known when each flight was due to leave, for a model that predicts delays: the weather, and how late its plane's flight before
   was. The problem it shows: features from several tables, each as of the same moment. A join on the latest rows would know the future,
   and one join after the other would multiply rows. Incremental: a run computes the month of its newest flights again. #}
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by=['departure_month']
) }}

with features as (
    {{ joinery.last_join(
        left=ref('stg_flights'),
        right=[
            {
                'relation': ref('stg_weather'),
                'on': ['origin'],
                'as_of': {'left': 'departs_at', 'right': 'observed_at', 'tolerance': '6 hours'},
                'columns': ['observed_at', 'temperature', 'wind_speed']
            },
            {
                'relation': ref('stg_flights'),
                'on': ['tailnum'],
                'as_of': {'left': 'departs_at', 'right': 'departs_at', 'strict': true},
                'order_by': ['departs_at', 'flight_id'],
                'columns': ['flight_id', 'left_at', 'departure_delay'],
                'prefix': 'previous_'
            }
        ],
        on=[],
        lookback={'reach': '2 days', 'whole': 'month'}
    ) }}
)

{# the flight before may have left after this one was due: its delay was not known then #}
select
    * except (previous_left_at, previous_departure_delay),
    if(previous_left_at <= departs_at, previous_left_at, null) as previous_left_at,
    if(previous_left_at <= departs_at, previous_departure_delay, null) as previous_departure_delay,
    date_format(departs_at, 'yyyy-MM') as departure_month
from features
