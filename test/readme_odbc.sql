-- The data source `ledger` of the README's examples, a SQLite file behind its ODBC driver.
CREATE TABLE entries(id integer NOT NULL PRIMARY KEY, account varchar(20) NOT NULL, booked date NOT NULL, amount decimal(12,2) NOT NULL);
INSERT INTO entries VALUES (1, 'rent', '2026-01-02', -900), (2, 'sales', '2026-01-05', 1250.5), (3, 'Büro', '2026-02-01', -42.25);
