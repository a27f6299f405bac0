"""A hundred queries without a use for Joinery: 20 shapes, each over 5 choices of columns and constants."""

from __future__ import annotations

TABLES = {
    "flights": "id BIGINT, carrier STRING, origin STRING, dest STRING, tailnum STRING, departs_at TIMESTAMP, "
    "dep_delay DOUBLE, arr_delay DOUBLE, distance INT, day DATE",
    "weather": "origin STRING, observed_at TIMESTAMP, temp DOUBLE, wind_speed DOUBLE, visib DOUBLE",
    "planes": "tailnum STRING, manufacturer STRING, model STRING, year INT, seats INT",
    "airports": "faa STRING, name STRING, lat DOUBLE, lon DOUBLE, tz INT",
}

_CHOICES = [
    {"key": "carrier", "value": "dep_delay", "n": 10},
    {"key": "origin", "value": "arr_delay", "n": 20},
    {"key": "dest", "value": "distance", "n": 30},
    {"key": "tailnum", "value": "dep_delay + arr_delay", "n": 40},
    {"key": "day", "value": "dep_delay * 2", "n": 50},
]

_SHAPES = [
    "SELECT * FROM flights WHERE {value} > {n}",
    "SELECT {key}, count(*), avg({value}) FROM flights GROUP BY {key}",
    "SELECT {key}, sum({value}) s FROM flights GROUP BY {key} HAVING sum({value}) > {n} ORDER BY s DESC LIMIT {n}",
    "SELECT DISTINCT {key}, origin FROM flights WHERE distance BETWEEN {n} AND 1000",
    "SELECT f.*, p.model FROM flights f JOIN planes p ON f.tailnum = p.tailnum WHERE p.seats > {n}",
    "SELECT f.{key}, p.year FROM flights f LEFT JOIN planes p ON f.tailnum = p.tailnum AND p.seats > {n}",
    "SELECT * FROM flights f LEFT SEMI JOIN planes p ON f.tailnum = p.tailnum AND p.year > {n}",
    "SELECT * FROM flights f LEFT ANTI JOIN planes p ON f.tailnum = p.tailnum WHERE {value} > {n}",
    "SELECT a.name, b.name FROM flights f JOIN airports a ON f.origin = a.faa JOIN airports b ON f.dest = b.faa "
    "WHERE f.{value} > {n}",
    "SELECT {key}, {value}, row_number() OVER (PARTITION BY {key} ORDER BY departs_at) r FROM flights",
    "SELECT * FROM (SELECT {key}, lag({value}) OVER (PARTITION BY {key} ORDER BY departs_at) d FROM flights) "
    "WHERE d > {n}",
    "WITH late AS (SELECT * FROM flights WHERE {value} > {n}) SELECT {key}, count(*) FROM late GROUP BY {key}",
    "SELECT * FROM flights WHERE tailnum IN (SELECT tailnum FROM planes WHERE seats > {n}) AND {value} > 0",
    "SELECT * FROM flights f WHERE EXISTS (SELECT 1 FROM weather w WHERE w.origin = f.origin AND w.temp > {n})",
    "SELECT *, (SELECT max(seats) FROM planes WHERE year > {n}) m FROM flights WHERE {value} > 0",
    "SELECT {key} FROM flights WHERE {value} > {n} UNION ALL SELECT {key} FROM flights WHERE {value} < -{n}",
    "SELECT {key}, date_trunc('hour', departs_at) h, percentile_approx({value}, 0.5) FROM flights GROUP BY 1, 2",
    "SELECT {key}, count(DISTINCT dest), count(DISTINCT origin) FROM flights WHERE distance > {n} GROUP BY {key}",
    "SELECT f.{key}, w.temp FROM flights f FULL OUTER JOIN weather w ON f.origin = w.origin "
    "AND date_trunc('hour', f.departs_at) = w.observed_at WHERE w.visib > {n}",
    "SELECT CASE WHEN {value} > {n} THEN 'last' ELSE 'join' END c, count(*) FROM flights GROUP BY ROLLUP (1, {key})",
]

QUERIES = [
    shape.format(**choice).replace("f.dep_delay + arr_delay", "f.dep_delay") for shape in _SHAPES for choice in _CHOICES
]
