{{ joinery.range_join(
    left=ref('storms'),
    right=ref('closures'),
    left_interval=['starts_at', 'ends_at'],
    right_interval=['closed_from', 'closed_to'],
    on=['origin'],
    columns=['closure_id']
) }}
