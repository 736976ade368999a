"""The peers python-tds (Python alone, TDS 7.4) and mssql-python (Microsoft's ODBC driver in it, strict).

    peer_mssql.py MODULE WORK PORT DATABASE PASSWORD CA TABLE ROWS UNITS      do WORK once, print one JSON line

MODULE is pytds or mssql_python. The keys and the line are participant.h's.
"""

import importlib.metadata
import json
import resource
import sys
import time

WORDS = ["a", "to", "sea", "Zürich", "river", "Łódź", "harbour", "東京", "mountain", "København", "evening",
         "lamp", "Straße", "bread", "one quite long word", "winter wheat harvest!"]


def peak_kb():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def open_pytds(port, database, password, ca):
    import pytds

    return pytds.connect("localhost", database=database, user="edb", password=password, port=int(port), cafile=ca, blocksize=16000), "%s"


def open_mssql_python(port, database, password, ca):
    import mssql_python

    # It takes the server's own certificate by name, not the one that signed it.
    text = f"Server=localhost,{port};Database={database};UID=edb;PWD={{{password}}};Encrypt=strict;ServerCertificate={ca.replace('ca.pem', 'good.pem')};PacketSize=16000"
    return mssql_python.connect(text), "?"


def read(db, table):
    count = ids = chars = score = 0
    cursor = db.cursor()
    cursor.execute(f"SELECT id, name, score FROM {table}")
    while rows := cursor.fetchmany(1000):
        for key, name, value in rows:
            count, ids, chars, score = count + 1, ids + key, chars + len(name), score + value
    return count, ids, chars, score


def lookups(db, mark, table, rows, units):
    count = ids = chars = score = 0
    sql = f"SELECT name, score FROM {table} WHERE id = {mark}"
    cursor = db.cursor()
    for n in range(units):
        key = 1 + n * 618033 % rows
        cursor.execute(sql, (key,))
        for name, value in cursor.fetchall():
            count, ids, chars, score = count + 1, ids + key, chars + len(name), score + value
    return count, ids, chars, score


def insert(db, mark, table, units):
    cursor = db.cursor()
    sql = f"INSERT INTO {table} VALUES ({mark}, {mark}, {mark})"
    for key in range(1, units + 1):
        cursor.execute(sql, (key, f"{key:08d} {WORDS[key & 15]}", key * 7919 % 1000003 / 8))
    db.commit()


def main():
    module, work, port, database, password, ca, table, rows, units = sys.argv[1:10]
    rows, units = int(rows), int(units)
    db, mark = globals()[f"open_{module}"](port, database, password, ca)
    if work == "insert":
        db.cursor().execute(f"TRUNCATE TABLE {table}")
        db.commit()
    cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    if work == "scan":
        sums = read(db, table)
    elif work == "lookup":
        sums = lookups(db, mark, table, rows, units)
    elif work == "insert":
        insert(db, mark, table, units)
    else:
        sys.exit(f"no such work: {work}")
    after, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - wall
    if work == "insert":  # what arrived is what counts
        sums = read(db, table)
    package = {"pytds": "python-tds", "mssql_python": "mssql-python"}[module]
    print(
        json.dumps(
            {
                "work": work,
                "wall_s": round(wall, 6),
                "user_s": round(after.ru_utime - cpu.ru_utime, 6),
                "sys_s": round(after.ru_stime - cpu.ru_stime, 6),
                "rss_kb": peak_kb(),
                "count": int(sums[0]),
                "ids": int(sums[1]),
                "chars": int(sums[2]),
                "score": float(sums[3]),
                "units": units,
                "server": "",
                "client": f"{package} {importlib.metadata.version(package)}",
            }
        )
    )


main()
