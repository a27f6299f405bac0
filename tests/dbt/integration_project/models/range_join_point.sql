{{ joinery.range_join(
    left=ref('flights'),
    right=ref('storms'),
    left_point='departs_at',
    right_interval=['starts_at', 'ends_at'],
    bounds='[)',
    on=['origin'],
    how='left',
    columns=['storm_id']
) }}
