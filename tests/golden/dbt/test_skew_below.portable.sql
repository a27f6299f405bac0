select *
from (
  select `carrier`, joinery_row_count, joinery_row_count / joinery_total as joinery_share
  from (
    select `carrier`, count(*) as joinery_row_count
    from air.flights
    group by `carrier`
  )
  cross join (select count(*) as joinery_total from air.flights)
)
where joinery_share > 0.2 and joinery_row_count >= 1000
