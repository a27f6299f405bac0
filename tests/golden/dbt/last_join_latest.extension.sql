select
  l.*,
  r.`observed_at` as `observed_at`,
  r.`temperature` as `temperature`
from `flights` as l
last join `weather` as r
  order by r.`observed_at` asc nulls last
  on l.`origin` = r.`origin`
