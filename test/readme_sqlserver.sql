-- The database `plant` of the README's examples, on the TDS test server.
CREATE TABLE machines(id int IDENTITY PRIMARY KEY, name nvarchar(40) NOT NULL, price money, serviced datetimeoffset(7), tag uniqueidentifier);
INSERT INTO machines(name, price, serviced, tag) VALUES
  (N'Fräse', 17500.5, '2026-01-03 10:00:00 +01:00', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'),
  (N'Presse', 98000, NULL, NULL),
  (N'Säge', 420.75, '2026-03-01 12:00:00.1234567 +00:00', NULL);
