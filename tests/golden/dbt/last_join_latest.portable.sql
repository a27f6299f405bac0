select
  l.*,
  r.c1 as `observed_at`,
  r.c2 as `temperature`
from `flights` as l
left join (
  select * from (
    select
      if(true or greatest((select first(l.`origin`) from `flights` as l where false), r.`origin`) is null, r.`origin`, (select first(l.`origin`) from `flights` as l where false)) as k1,
      r.`observed_at` as c1,
      r.`temperature` as c2,
      row_number() over (
        partition by if(true or greatest((select first(l.`origin`) from `flights` as l where false), r.`origin`) is null, r.`origin`, (select first(l.`origin`) from `flights` as l where false))
        order by r.`observed_at` desc nulls first
      ) as last_first
    from `weather` as r
    where r.`origin` is not null
  )
  where last_first = 1
) as r
  on l.`origin` = r.k1
