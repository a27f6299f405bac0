select
  *,
  avg(dep_delay)
    over w as `average_delay`
from `air`.`flights`
window w as (partition by `carrier` order by `departs_at` asc nulls first, `flight_id` asc nulls first rows between 9999 preceding and current row)
