select *
from air.flights
where `observed_at` > `departs_at`
