select
  l.*,
  r.c1 as `price`
from `air`.`flights` as l
left join (
  select * from (
    select
      p.`origin` as k1,
      p.`departs_at` as k2,
      r.`price` as c1,
      row_number() over (
        partition by p.`origin`, p.`departs_at`
        order by r.`valid_from` desc nulls last
      ) as last_first
    from (
      select distinct l.`origin`, l.`departs_at`
      from `air`.`flights` as l
    ) as p
    join `air`.`fares` as r on p.`origin` = r.`origin` and r.`valid_from` <= p.`departs_at` and (r.`valid_to` > p.`departs_at` or r.`valid_to` is null)
  )
  where last_first = 1
) as r
  on l.`origin` = r.k1 and l.`departs_at` = r.k2
