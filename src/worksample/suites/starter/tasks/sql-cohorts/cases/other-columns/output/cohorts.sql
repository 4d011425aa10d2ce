-- Cohorts of first payments: active customers and net revenue by months since the first payment.
WITH RECURSIVE chain(start_id, id) AS (   -- follow merges to the account that survived
  SELECT account_id, account_id FROM accounts
  UNION
  SELECT c.start_id, m.new_id FROM chain c JOIN account_merges m ON m.old_id = c.id
),
person AS (
  SELECT c.start_id AS account_id, c.id AS person
  FROM chain c JOIN accounts a ON a.account_id = c.id
  WHERE c.id NOT IN (SELECT old_id FROM account_merges)
    AND lower(coalesce(a.internal, '')) NOT IN ('yes', 'y', '1')
),
once AS (
  SELECT p.* FROM payments p
  WHERE p.pid = (SELECT min(x.pid) FROM payments x WHERE x.gateway_ref = p.gateway_ref)
),
net AS (
  SELECT s.person,
    CASE
      WHEN typeof(p.paid_on) = 'text' THEN substr(p.paid_on, 1, 7)
      WHEN p.paid_on < 100000000 THEN substr(p.paid_on, 1, 4) || '-' || substr(p.paid_on, 5, 2)
      ELSE strftime('%Y-%m', p.paid_on / 1000, 'unixepoch')
    END AS ym,
    CAST(round(CASE p.unit WHEN 'cents' THEN CAST(p.gross AS REAL)
      ELSE 100 * CAST(replace(p.gross, ',', '.') AS REAL) END) AS INTEGER)
      - coalesce((SELECT sum(b.cents) FROM chargebacks b WHERE b.gateway_ref = p.gateway_ref), 0) AS cents
  FROM once p JOIN person s ON s.account_id = p.account_id
  WHERE lower(trim(p.state)) = 'settled'
),
first AS (SELECT person, min(ym) AS cohort FROM net GROUP BY person)
SELECT count(*) AS payments, f.cohort AS Cohort,
  (CAST(substr(n.ym, 1, 4) AS INTEGER) - CAST(substr(f.cohort, 1, 4) AS INTEGER)) * 12
    + CAST(substr(n.ym, 6, 2) AS INTEGER) - CAST(substr(f.cohort, 6, 2) AS INTEGER) AS month,
  count(DISTINCT n.person) AS customers,
  round(sum(n.cents) / 100.0, 2) AS revenue
FROM net n JOIN first f USING (person)
GROUP BY f.cohort, month
ORDER BY revenue DESC;
