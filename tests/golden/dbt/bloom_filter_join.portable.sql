select
  l.*,
  r.`seats` as `seats`
from `air`.`flights` as l
inner join (select * from `air`.`planes` where manufacturer = 'CESSNA'
) as r
  on l.`tailnum` = r.`tailnum`
