-- The database `stock` of the README's examples, on MariaDB.
CREATE TABLE parts(id int PRIMARY KEY, name varchar(40) NOT NULL, weight decimal(10, 2) NOT NULL, checked timestamp(6) NULL);
INSERT INTO parts VALUES
  (1, 'Résistance', 0.25, '2026-01-03 09:00:00'),
  (2, 'Bolt', 7, NULL),
  (3, 'Spule', 12.5, '2026-03-01 12:00:00.25');
