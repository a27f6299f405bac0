select /*+ RANGE_JOIN(r) */
  coalesce(l.`origin`, r.`origin`) as `origin`, l.`flight_id`, l.`carrier`, l.`departs_at`, l.`dep_delay`,
  r.`storm_id` as `storm_id`
from `air`.`flights` as l
full join `air`.`storms` as r
  on l.`origin` = r.`origin` and l.`departs_at` <= r.`ends_at` and r.`starts_at` <= l.`left_at`
