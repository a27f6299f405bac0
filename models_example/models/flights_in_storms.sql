{# Flights due to leave while a storm is over their airport. #}
{{ joinery.range_join(
    left=ref('stg_flights'),
    right=ref('storms'),
    value='departs_at',
    start='starts_at',
    end='ends_at',
    on=['origin'],
    end_inclusive=false,
    columns=['storm_id', 'starts_at', 'ends_at']
) }}
