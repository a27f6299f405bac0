select
    'AA' as carrier,
    6L as row_count,
    array(timestamp'2024-01-01 09:30:00', timestamp'2024-01-01 11:00:00') as quantiles
