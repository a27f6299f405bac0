{# The weather that was known when the flight was due to leave: point in time, so never a later observation. #}
{{ joinery.last_join(
    left=ref('stg_flights'),
    right=ref('stg_weather'),
    on=['origin'],
    as_of={'left': 'departs_at', 'right': 'observed_at'},
    columns=['observed_at', 'temperature', 'wind_speed', 'precipitation', 'visibility']
) }}
