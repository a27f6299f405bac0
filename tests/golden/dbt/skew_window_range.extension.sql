select
  *,
  avg(dep_delay)
    over w as `average_delay`
from `air`.`flights`
window w as (partition by `carrier` order by `departs_at` asc nulls first range between interval 2 hour preceding and current row)
