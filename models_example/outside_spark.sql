-- The model flight_weather computed by DuckDB from the same Parquet files: rows in one answer and not in the other.
WITH weather AS (
    SELECT
        origin,
        time_hour AS observed_at,
        temp AS temperature,
        CASE WHEN wind_speed <= 200 THEN wind_speed END AS wind_speed,
        precip AS precipitation,
        visib AS visibility
    FROM {weather}
),

expected AS (
    SELECT f.flight_id, f.departs_at, w.observed_at, w.temperature, w.wind_speed, w.precipitation, w.visibility
    FROM {flights} AS f
    ASOF LEFT JOIN weather AS w ON f.origin = w.origin AND f.departs_at >= w.observed_at
),

found AS (
    SELECT flight_id, departs_at, observed_at, temperature, wind_speed, precipitation, visibility FROM {model}
)

SELECT
    (SELECT count(*) FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM found))
    + (SELECT count(*) FROM (SELECT * FROM found EXCEPT ALL SELECT * FROM expected)) AS differences
