{# Flights due to leave while a storm is over their airport. #}
{{ joinery.range_join(
    left=ref('stg_flights'),
    right=ref('storms'),
    left_point='departs_at',
    right_interval=['starts_at', 'ends_at'],
    bounds='[)',
    on=['origin'],
    columns=['storm_id', 'starts_at', 'ends_at']
) }}
