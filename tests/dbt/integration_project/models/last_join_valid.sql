{{ joinery.last_join(
    left=ref('flights'),
    right=ref('fares'),
    on=['origin'],
    as_of={'left': 'departs_at'},
    valid_from='valid_from',
    valid_to='valid_to',
    known_at='recorded_at',
    columns=['price']
) }}
