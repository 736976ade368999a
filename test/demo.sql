-- make demo: a SQLite file plays the remote server; what follows is the same for PostgreSQL.
.bail on
ATTACH 'build/demo/shop.db' AS shop;
CREATE TABLE shop.orders(id INTEGER PRIMARY KEY, customer INTEGER, day DATE, amount NUMERIC);
INSERT INTO shop.orders VALUES
  (1, 1, '2026-01-03', 120), (2, 2, '2026-01-03', 80.5), (3, 1, '2026-02-11', 42),
  (4, 3, '2026-02-12', 310), (5, 2, '2026-03-01', 19.5);
DETACH shop;
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Edsger');

.load ./edb
.mode box
.echo on
-- A server is a name and a URL; a table is a server and a name.
SELECT edb_server('shop', 'sqlite:build/demo/shop.db');
CREATE VIRTUAL TABLE orders USING edb(shop, 'orders');

-- Remote rows join local ones.
SELECT name, count(*) AS orders, sum(amount) AS total
  FROM customers JOIN orders ON orders.customer = customers.id
 GROUP BY name ORDER BY total DESC;

-- What the server is asked.
EXPLAIN QUERY PLAN SELECT day, amount FROM orders WHERE amount > 100;

-- Any SQL of the server's own.
SELECT c1 AS month, c2 AS total
  FROM edb_query('shop', 'SELECT strftime(''%Y-%m'', day), sum(amount) FROM orders GROUP BY 1');
