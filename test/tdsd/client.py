"""Runs statements through python-tds and prints what they answer: client.py PORT DATABASE PASSWORD CA SQL..."""
import sys
import pytds

port, database, password, ca, *statements = sys.argv[1:]
db = pytds.connect('localhost', database=database, user='edb', password=password, port=int(port),
                   cafile=ca, autocommit=True, login_timeout=20, timeout=20)
cursor = db.cursor()
for statement in statements:
    try:
        cursor.execute(statement)
        while True:
            if cursor.description:
                for row in cursor.fetchall():
                    print(row)
            if not cursor.nextset():
                break
    except pytds.Error as error:
        print(type(error).__name__, getattr(error, 'msg_no', ''), error)
