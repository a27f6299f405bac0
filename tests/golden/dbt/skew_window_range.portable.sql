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
        __joinery_part,
        if(__joinery_q is null or `departs_at` is null, __joinery_part, greatest(__joinery_part,
          size(filter(__joinery_q, __joinery_b -> coalesce(__joinery_b - interval 2 hour <= `departs_at` or __joinery_b - interval 2 hour > __joinery_b, true))))))) as __joinery_part_id
      from (
        select /*+ broadcast(d) */ t.*, d.q as __joinery_q,
          case when d.q is null then 0 when t.`departs_at` is null then -1 else size(filter(d.q, __joinery_b -> __joinery_b < t.`departs_at`)) end as __joinery_part,
          if(d.q is null, 0, -1) as __joinery_first, if(d.q is null, 0, size(d.q)) as __joinery_last
        from `air`.`flights` as t
        left join (
          select k1, transform(
            sequence(1, parts - 1), i -> get(quantiles, cast(i * (size(quantiles) + 1) / parts as int) - 1)) as q
          from (
            select *, least(8, size(quantiles) + 1, cast(row_count / 10000 as int)) as parts
            from (
              select `carrier` as k1, first(row_count) as row_count, first(quantiles) as quantiles
              from `distribution`
              where quantiles is not null
              group by `carrier`
            )
          )
          where parts > 1
        ) as d
          on typeof(d.q) = concat('array<', typeof(t.`departs_at`), '>')
          and t.`carrier` <=> d.k1 and typeof(t.`carrier`) = typeof(d.k1)
      )
    )
  )
  window w as (partition by `carrier`, __joinery_part_id order by `departs_at` asc nulls first range between interval 2 hour preceding and current row)
)
where not __joinery_expanded_row
