select `flight_id`, `origin`, `carrier`, `departs_at`, `dep_delay`, `average_delay`
from (
  select
    *,
    avg(dep_delay)
      over w as `average_delay`
  from (
    select *, __joinery_part <> __joinery_part_id as __joinery_expanded_row
    from (
      select *, explode(sequence(
        if(__joinery_down <= 0, __joinery_first, __joinery_part),
        if(__joinery_up <= 9999, __joinery_last, __joinery_part))) as __joinery_part_id
      from (
        select *,
          row_number() over (partition by `carrier`, __joinery_part order by `departs_at` desc nulls last, `flight_id` desc nulls last) as __joinery_up,
          1 as __joinery_down
        from (
          select /*+ broadcast(d) */ t.*, d.q as __joinery_q,
            case when d.q is null then 0 when t.`departs_at` is null then -1 else size(filter(d.q, __joinery_b -> __joinery_b < t.`departs_at`)) end as __joinery_part,
            if(d.q is null, 0, -1) as __joinery_first, if(d.q is null, 0, size(d.q)) as __joinery_last
          from `air`.`flights` as t
          left join (
            select k1, transform(
              sequence(1, parts - 1), i -> get(quantiles, cast(i * (size(quantiles) + 1) / parts as int) - 1)) as q
            from (
              select *, least(8, size(quantiles) + 1, cast(row_count / 10000 as int), cast(0.5 + sqrt(0.25 + row_count / 19998) as int)) as parts
              from (
                select `carrier` as k1, count(*) as row_count, percentile_approx(`departs_at`, array(0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875), 800) as quantiles
                from `air`.`flights`
                group by `carrier`
              )
            )
            where parts > 1
          ) as d
            on typeof(d.q) = concat('array<', typeof(t.`departs_at`), '>')
            and t.`carrier` <=> d.k1
        )
      )
    )
  )
  window w as (partition by `carrier`, __joinery_part_id order by `departs_at` asc nulls first, `flight_id` asc nulls first rows between 9999 preceding and current row)
)
where not __joinery_expanded_row
