select
  l.*,
  r.`storm_id` as `storm_id`
from `air`.`flights` as l
inner join `air`.`storms` as r
  on l.`origin` = r.`origin` and l.`departs_at` >= r.`starts_at` and l.`departs_at` < r.`ends_at`
