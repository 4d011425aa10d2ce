-- Cohorts of first orders: active customers and net revenue by months since the first order.
WITH people AS (                       -- one person per e-mail address, test accounts out
  SELECT id, lower(trim(email)) AS person
  FROM customers
  WHERE lower(trim(email)) NOT IN (
    SELECT lower(trim(email)) FROM customers
    WHERE is_test = 1 OR lower(trim(email)) LIKE '%@tallowandreed.test'
  )
),
once AS (                              -- an order number imported twice counts once: the lowest id
  SELECT o.* FROM orders o
  WHERE o.id = (SELECT min(x.id) FROM orders x WHERE x.order_no = o.order_no)
),
valid AS (
  SELECT o.id, p.person,
    CASE
      WHEN typeof(o.ordered_at) = 'integer' THEN strftime('%Y-%m', o.ordered_at, 'unixepoch')
      WHEN o.ordered_at LIKE '__/__/____%' THEN substr(o.ordered_at, 7, 4) || '-' || substr(o.ordered_at, 4, 2)
      ELSE substr(o.ordered_at, 1, 7)
    END AS ym,
    CAST(round(100 * CAST(
      trim(replace(replace(replace(o.total, '€', ''), 'EUR', ''), ',', '.')) AS REAL)) AS INTEGER) AS cents
  FROM once o JOIN people p ON p.id = o.customer_id
  WHERE lower(trim(o.status)) IN ('paid', 'shipped')
),
net AS (
  SELECT v.person, v.ym,
    v.cents AS cents
  FROM valid v
),
first AS (SELECT person, min(ym) AS cohort FROM net GROUP BY person)
SELECT f.cohort,
  (CAST(substr(n.ym, 1, 4) AS INTEGER) - CAST(substr(f.cohort, 1, 4) AS INTEGER)) * 12
    + CAST(substr(n.ym, 6, 2) AS INTEGER) - CAST(substr(f.cohort, 6, 2) AS INTEGER) AS month,
  count(DISTINCT n.person) AS customers,
  round(sum(n.cents) / 100.0, 2) AS revenue
FROM net n JOIN first f USING (person)
GROUP BY f.cohort, month
ORDER BY f.cohort, month;
