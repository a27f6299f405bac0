select * from (
  with __joinery_1 as (
    select
      __joinery_left.*,
      __joinery_right_1.c1 as `temperature`,
      if(__joinery_right_2.t >= __joinery_left.`departs_at` - interval 1 day, __joinery_right_2.c1, null) as `day_before_temperature`
    from (
      select
        __joinery_left,
        last_value(__joinery_right_1, true) over stream as __joinery_right_1,
        last_value(__joinery_right_2, true) over stream as __joinery_right_2
      from (
        select
          l.`origin` as __joinery_k1,
          l.`departs_at` as __joinery_k2,
          1 as __joinery_side, struct(l.*) as __joinery_left, null as __joinery_right_1, null as __joinery_right_2
        from `air`.`flights` as l
        union all
        select
          r.`origin` as __joinery_k1,
          r.`observed_at` as __joinery_k2,
          0 as __joinery_side, null as __joinery_left, struct(r.`temperature` as c1) as __joinery_right_1, null as __joinery_right_2
        from `air`.`weather` as r
        where r.`origin` is not null and r.`observed_at` is not null
        union all
        select
          r.`origin` as __joinery_k1,
          r.`observed_at` as __joinery_k2,
          2 as __joinery_side, null as __joinery_left, null as __joinery_right_1, struct(r.`temperature` as c1, r.`observed_at` as t) as __joinery_right_2
        from `air`.`weather` as r
        where r.`origin` is not null and r.`observed_at` is not null
      )
      window stream as (
        partition by __joinery_k1
        order by __joinery_k2, __joinery_side
        rows between unbounded preceding and current row)
    )
    where __joinery_left is not null
  )
  select
    l.*,
    r.c1 as `fare_price`
  from __joinery_1 as l
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
        from __joinery_1 as l
      ) as p
      join `air`.`fares` as r on p.`origin` = r.`origin` and r.`valid_from` <= p.`departs_at` and (r.`valid_to` > p.`departs_at` or r.`valid_to` is null)
    )
    where last_first = 1
  ) as r
    on l.`origin` = r.k1 and l.`departs_at` = r.k2
)
