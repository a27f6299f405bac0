{{ joinery.last_join(
    left=ref('flights'),
    right=ref('weather'),
    on=['origin'],
    as_of={'left': 'departs_at', 'right': 'observed_at', 'tolerance': '3 hours'}
) }}
