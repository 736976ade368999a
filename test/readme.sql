-- The database `shop` of the README's examples.
CREATE TABLE customers(id int PRIMARY KEY, name text NOT NULL, country char(2) NOT NULL);
INSERT INTO customers VALUES (1, 'Ada', 'GB'), (2, 'Grace', 'US'), (3, 'Edsger', 'NL'), (4, 'Barbara', 'US');
CREATE TABLE orders(
  id bigint PRIMARY KEY, customer int NOT NULL REFERENCES customers, placed timestamptz NOT NULL,
  amount numeric(10, 2) NOT NULL, note text);
INSERT INTO orders VALUES
  (1, 1, '2026-01-03 09:00:00+00', 120.00, NULL),
  (2, 2, '2026-01-03 10:30:00+00', 80.50, 'gift'),
  (3, 1, '2026-02-11 23:59:59.25+00', 42.00, NULL),
  (4, 3, '2026-02-12 00:00:00+02', 310.00, 'urgent'),
  (5, 2, '2026-03-01 12:00:00+00', 19.50, NULL);
CREATE VIEW totals AS
  SELECT country, count(*) AS orders, sum(amount) AS total
    FROM orders JOIN customers ON customers.id = orders.customer GROUP BY country;
CREATE FUNCTION orders_of(int) RETURNS SETOF orders LANGUAGE sql AS
  'SELECT * FROM orders WHERE customer = $1 ORDER BY id';
ANALYZE customers, orders;
