select
  l.*,
  r1.`temperature` as `temperature`,
  r2.`temperature` as `day_before_temperature`,
  r3.`price` as `fare_price`
from `air`.`flights` as l
last join `air`.`weather` as r1
  order by r1.`observed_at` asc nulls first
  on l.`origin` = r1.`origin` and r1.`observed_at` <= l.`departs_at`
last join `air`.`weather` as r2
  order by r2.`observed_at` asc nulls first
  on l.`origin` = r2.`origin` and r2.`observed_at` < l.`departs_at` and r2.`observed_at` >= l.`departs_at` - interval 1 day
last join `air`.`fares` as r3
  order by r3.`valid_from` asc nulls first
  on l.`origin` = r3.`origin` and r3.`valid_from` <= l.`departs_at` and (r3.`valid_to` > l.`departs_at` or r3.`valid_to` is null)
