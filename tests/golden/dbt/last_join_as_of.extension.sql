select
  l.*,
  r.`observed_at` as `observed_at`,
  r.`temperature` as `temperature`
from `air`.`flights` as l
last join `air`.`weather` as r
  order by r.`observed_at` asc nulls first
  on l.`origin` = r.`origin` and r.`observed_at` <= l.`departs_at`
