"""A session of python-tds, a line of standard input a command, an answer a line:

    sql STATEMENT         its rows, ' ; ' between result sets; an error as `ERROR number text`
    rpc STATEMENT         the same through sp_executesql, with the parameters that `params` gave
    params EXPRESSION     Python for the parameters of what follows
    call NAME EXPRESSION  a procedure by RPC: return status and output values
    begin | commit | rollback
    open NAME | use NAME  another connection; the one that commands go to
    cancel STATEMENT      reads its first row, cancels it, and tells what the connection says after that
    bulk TABLE ROWS       a bulk load of rows (n, text)

client.py PORT DATABASE PASSWORD CA
"""
import io
import sys
import uuid  # noqa: F401 (for params)
import datetime  # noqa: F401
import decimal  # noqa: F401

import OpenSSL
import pytds

port, database, password, ca = sys.argv[1:5]


def connect():
    return pytds.connect('localhost', database=database, user='edb', password=password, port=int(port), cafile=ca,
                         autocommit=True, login_timeout=20, timeout=20)


def show(value):
    if isinstance(value, bytes):
        return '0x' + value.hex()
    if isinstance(value, str) and len(value) > 200:
        return f'{len(value)}:{hash_of(value)}'
    return str(value)


def hash_of(text):
    return sum((i + 1) * ord(c) for i, c in enumerate(text)) % 1000003


def answer(cursor):
    sets = []
    while True:
        if cursor.description:
            sets.append(', '.join('|'.join(show(v) for v in row) for row in cursor.fetchall()))
        if not cursor.nextset():
            return ' ; '.join(sets)


sys.stdout.reconfigure(encoding='utf-8')
connections = {}
params = ()
db = None
for line in io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8'):
    command, _, rest = line.rstrip('\n').partition(' ')
    try:
        if db is None and command not in ('open', 'use'):
            db = connections['first'] = connect()
        if command == 'open':
            db = connections[rest] = connect()
            print('open')
        elif command == 'use':
            db = connections[rest]
            print('using', rest)
        elif command == 'params':
            params = eval(rest)
            print('ok')
        elif command in ('sql', 'rpc'):
            cursor = db.cursor()
            cursor.execute(rest, params if command == 'rpc' else ())
            print(answer(cursor))
        elif command == 'call':
            name, _, arguments = rest.partition(' ')
            cursor = db.cursor()
            values = cursor.callproc(name, eval(arguments))
            rows = answer(cursor)
            print(rows, cursor.get_proc_return_status(), [show(v) for v in cursor.get_proc_outputs()] if hasattr(cursor, 'get_proc_outputs') else values)
        elif command in ('begin', 'commit', 'rollback'):
            if command == 'begin':
                db.autocommit = False
            else:
                getattr(db, command)()
                db.autocommit = True
            print('ok')
        elif command == 'cancel':
            cursor = db.cursor()
            cursor.execute(rest)
            first = cursor.fetchone()[0]
            cursor.cancel()
            cursor = db.cursor()
            cursor.execute('SELECT 7')
            print(first, answer(cursor))
        elif command == 'bulk':
            table, _, rows = rest.partition(' ')
            text = ''.join(f'{i}\ttext {i}\n' for i in range(int(rows)))
            cursor = db.cursor()
            cursor.copy_to(io.StringIO(text), table, columns=('n', 't'))
            print('ok')
    except pytds.Error as error:
        number = getattr(error, 'msg_no', None) or getattr(error, 'number', None)
        print('ERROR', number, str(error).split('\n')[0])
    except (OSError, OpenSSL.SSL.Error) as error:
        print('LOST', type(error).__name__)
    sys.stdout.flush()
