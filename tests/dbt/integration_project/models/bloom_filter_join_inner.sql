{{ joinery.bloom_filter_join(
    left=ref('flights'), right=ref('planes'), on=['tailnum'], where="manufacturer = 'CESSNA'", columns=['seats']
) }}
