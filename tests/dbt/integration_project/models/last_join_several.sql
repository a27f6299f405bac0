{{ config(materialized='table') }}
{{ joinery.last_join(
    left=ref('flights'),
    on=['origin'],
    as_of={'left': 'departs_at', 'right': 'observed_at', 'strict': true},
    right=[
        {'relation': ref('weather'), 'columns': ['observed_at', 'temperature']},
        {
            'relation': ref('inspections'),
            'on': ['tailnum'],
            'as_of': {'left': 'departs_at', 'right': 'checked_at'},
            'columns': ['checked_at', 'outcome'],
            'prefix': 'plane_'
        }
    ]
) }}
