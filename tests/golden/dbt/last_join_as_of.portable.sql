select
  __joinery_left.*,
  __joinery_right.c1 as `observed_at`,
  __joinery_right.c2 as `temperature`
from (
  select
    __joinery_left,
    last_value(__joinery_right, true) over stream as __joinery_right
  from (
    select
      l.`origin` as __joinery_k1,
      l.`departs_at` as __joinery_k2,
      1 as __joinery_side, struct(l.*) as __joinery_left, null as __joinery_right
    from `air`.`flights` as l
    union all
    select
      r.`origin` as __joinery_k1,
      r.`observed_at` as __joinery_k2,
      0 as __joinery_side, null as __joinery_left, struct(r.`observed_at` as c1, r.`temperature` as c2) as __joinery_right
    from `air`.`weather` as r
    where r.`origin` is not null and r.`observed_at` is not null
  )
  window stream as (
    partition by __joinery_k1
    order by __joinery_k2, __joinery_side
    rows between unbounded preceding and current row)
)
where __joinery_left is not null
