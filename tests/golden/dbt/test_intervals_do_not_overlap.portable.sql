select __joinery_row.*, 'overlaps an earlier interval' as joinery_problem
from (
  select
    struct(*) as __joinery_row,
    `valid_from` as __joinery_start,
    count(*) over earlier as __joinery_earlier,
    bool_or(`valid_to` is null) over earlier as __joinery_is_open,
    max(`valid_to`) over earlier as __joinery_last_end
  from air.fares
  where `valid_from` < `valid_to` or `valid_from` is null or `valid_to` is null
  window earlier as (partition by `origin` order by `valid_from` asc nulls first rows between unbounded preceding and 1 preceding)
)
where __joinery_earlier > 0 and (__joinery_start is null or __joinery_is_open or __joinery_start < __joinery_last_end)
union all
select *, 'ends before it starts' as joinery_problem
from air.fares
where `valid_to` < `valid_from`
