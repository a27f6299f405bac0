select *
from (
  select `carrier`, count(*) as joinery_row_count, count(*) / sum(count(*)) over () as joinery_share
  from air.flights
  group by `carrier`
)
where joinery_share > 0.2 and joinery_row_count >= 1000
