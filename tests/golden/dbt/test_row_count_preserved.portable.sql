select row_count, expected_row_count
from (select count(*) as row_count from air.a)
cross join (select count(*) as expected_row_count from `air`.`b`)
where row_count <> expected_row_count
