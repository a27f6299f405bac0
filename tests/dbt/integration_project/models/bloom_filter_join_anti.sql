{{ joinery.bloom_filter_join(
    left=ref('flights'), right=ref('planes'), on=['tailnum'], where="carrier = 'AA'", how='anti'
) }}
