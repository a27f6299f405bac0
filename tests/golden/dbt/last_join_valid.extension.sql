select
  l.*,
  r.`price` as `price`
from `air`.`flights` as l
last join `air`.`fares` as r
  order by r.`valid_from` asc nulls first
  on l.`origin` = r.`origin` and r.`valid_from` <= l.`departs_at` and (r.`valid_to` > l.`departs_at` or r.`valid_to` is null)
