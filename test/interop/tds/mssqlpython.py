"""The script of ../tdsd.test through mssql-python: mssqlpython.py MODE PORT DATABASE PASSWORD CA"""
import datetime
import re
import sys
import threading
import uuid

import mssql_python

mode, port, database, secret, ca = sys.argv[1:]


def connect(password, autocommit=True):
    # Only strict takes a certificate by name here; 7.4 trusts whatever is shown.
    trust = f'ServerCertificate={ca.replace("ca.pem", "good.pem")}' if mode == 'strict' else 'TrustServerCertificate=yes'
    return mssql_python.connect(f'Server=localhost,{port};Database={database};UID=edb;PWD={{{password}}};Encrypt={mode};{trust}', autocommit=autocommit)


def number(run):
    try:
        run()
    except mssql_python.Error as error:
        return str(error)
    return 'none'


KNOWN = {'Login failed': 18456, 'Invalid object name': 208, 'Violation of PRIMARY KEY': 2627, 'Divide by zero': 8134, ']own': 50000,
         'stored procedure': 2812, 'Conversion failed': 245, 'Lock request time out': 1222}


def code(message):
    """The driver tells no numbers: by the text."""
    return next((n for text, n in KNOWN.items() if text in message), message)


def say(what, *values):
    print(f'{what}:', *values)


say('login', code(number(lambda: connect('wrong'))))
db = connect(secret)
cursor = db.cursor()
cursor.execute('''CREATE TABLE v(i int PRIMARY KEY, b bigint, x float, d decimal(38,10), n nvarchar(100), c varchar(20) COLLATE Cyrillic_General_CI_AS,
    r varbinary(20), t datetime2(7), g uniqueidentifier, f bit, l nvarchar(max), m money)''')
big = 'ä€😀x' * 20000
insert = 'INSERT INTO v(i,b,x,d,n,r,t,g,f,l,m,c) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)'
cursor.execute(insert, 1, -9223372036854775808, 0.1, '-12345678901234567890.0123456789', 'Zürich 東京 😀', b'\x00\xff\x10',
               datetime.datetime(2026, 2, 28, 23, 59, 59, 997000), uuid.UUID('01020304-0506-0708-090A-0B0C0D0E0F10'), True, big, '-17.8', 'Привет')
cursor.execute(insert, 2, *[None] * 11)


def text(value):
    if value is None:
        return ''
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec='milliseconds') + 'Z'
    return str(value).upper() if isinstance(value, uuid.UUID) else 'same' if value == big else str(value)


for row in cursor.execute('SELECT i, b, x, CAST(d AS varchar(50)), n, c, r, t, g, f, CAST(m AS varchar(30)), l FROM v ORDER BY i').fetchall():
    say('row', *map(text, row))
cursor.execute('SELECT 1; SELECT 2')
several = []
while True:
    several += [f'[{row[0]}]' for row in cursor.fetchall()]
    if not cursor.nextset():
        break
say('several', f'[{",".join(several)}]')


def count():
    return db.cursor().execute('SELECT COUNT(*) FROM v').fetchone()[0]


other = connect(secret, autocommit=False)
other.cursor().execute('DELETE FROM v WHERE i = ?', 2)
other.rollback()
say('rolled back', count())
other.cursor().execute('DELETE FROM v WHERE i = 2')
other.commit()
say('committed', count())
say('errors', *(code(number(lambda: db.cursor().execute(sql).fetchall())) for sql in (
    'SELECT * FROM nosuch', 'INSERT INTO v(i) VALUES (1)', 'SELECT 1/0', "RAISERROR('own',16,1)", 'SELEC', "SELECT CAST('x' AS int)")))
other.cursor().execute('UPDATE v SET b = 5')
say('locked', code(number(lambda: db.cursor().execute('SET LOCK_TIMEOUT 50; UPDATE v SET b = 6'))))
other.rollback()
cursor = db.cursor()
cursor.timeout = 1
db.timeout = 1
canceled = number(lambda: db.cursor().execute("WAITFOR DELAY '00:00:30'"))
say('cancelled', 'ECANCEL' if re.search('[Tt]imeout|cancel', canceled) else canceled, db.cursor().execute('SELECT 7').fetchone()[0])
