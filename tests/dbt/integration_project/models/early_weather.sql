{{ config(materialized='ephemeral') }}
select * from {{ ref('weather') }} where temperature < 3
