{{ joinery.last_join(
    left=ref('flights'), right=ref('weather'), on=['origin'], order_by=['observed_at'], columns=['observed_at', 'temperature']
) }}
