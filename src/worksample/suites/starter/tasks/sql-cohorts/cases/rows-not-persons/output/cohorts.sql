WITH o AS (
  SELECT customer_id, CASE
      WHEN typeof(ordered_at) = 'integer' THEN strftime('%Y-%m', ordered_at, 'unixepoch')
      WHEN ordered_at LIKE '__/__/____%' THEN substr(ordered_at, 7, 4) || '-' || substr(ordered_at, 4, 2)
      ELSE substr(ordered_at, 1, 7) END AS ym,
    CAST(replace(replace(replace(total, '€', ''), 'EUR', ''), ',', '.') AS REAL) AS total
  FROM orders JOIN customers c ON c.id = customer_id WHERE lower(trim(status)) IN ('paid', 'shipped')),
f AS (SELECT customer_id, min(ym) AS cohort FROM o GROUP BY customer_id)
SELECT cohort, (substr(ym, 1, 4) - substr(cohort, 1, 4)) * 12 + substr(ym, 6, 2) - substr(cohort, 6, 2) AS month,
  count(DISTINCT customer_id) AS customers, round(sum(total), 2) AS revenue
FROM o JOIN f USING (customer_id) GROUP BY cohort, month;
