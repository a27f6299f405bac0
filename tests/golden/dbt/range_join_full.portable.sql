select
  coalesce(l.`origin`, r.`origin`) as `origin`, l.* except (`origin`),
  r.`storm_id` as `storm_id`
from `air`.`flights` as l
full join `air`.`storms` as r
  on l.`origin` = r.`origin` and l.`departs_at` <= r.`ends_at` and r.`starts_at` <= l.`left_at`
