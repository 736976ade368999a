"""The peer pymysql: Python's MySQL driver that is Python alone, rows read one by one (SSCursor).

    peer_pymysql.py WORK URL TABLE ROWS UNITS      do WORK once, print one JSON line

The keys, the range and the line are participant.h's. PyMySQL writes parameters into the text it sends:
it has no prepared statements.
"""

import json
import resource
import sys
import time
import urllib.parse

import pymysql
import pymysql.cursors


def peak_kb():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def connect(url):
    parts = urllib.parse.urlsplit(url)
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port,
        user=urllib.parse.unquote(parts.username),
        password=urllib.parse.unquote(parts.password),
        database=parts.path.lstrip("/"),
        charset="utf8mb4",
    )


def read(db, sql, parameters=()):
    count = ids = chars = score = 0
    with db.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute(sql, parameters)
        for key, name, value in cursor:
            count, ids, chars, score = count + 1, ids + key, chars + len(name), score + value
    return count, ids, chars, score


def lookups(db, table, rows, units):
    count = ids = chars = score = 0
    sql = f"SELECT name, score FROM {table} WHERE id = %s"
    with db.cursor() as cursor:
        for n in range(units):
            key = 1 + n * 618033 % rows
            cursor.execute(sql, (key,))
            for name, value in cursor.fetchall():
                count, ids, chars, score = count + 1, ids + key, chars + len(name), score + value
    return count, ids, chars, score


def count_rows(db, table):
    with db.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0], 0, 0, 0


def main():
    work, url, table, rows, units = sys.argv[1:6]
    rows, units = int(rows), int(units)
    db = connect(url)
    sql = f"SELECT id, name, score FROM {table}"

    cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    if work == "scan":
        sums = read(db, sql)
    elif work == "filter":
        sums = read(db, f"{sql} WHERE id BETWEEN %s AND %s", (rows // 2 + 1, rows // 2 + rows // 100))
    elif work == "count":
        sums = count_rows(db, table)
    elif work == "lookup":
        sums = lookups(db, table, rows, units)
    else:
        sys.exit(f"no such work: {work}")
    after, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - wall
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
                "server": db.get_server_info(),
                "client": f"PyMySQL {pymysql.__version__}",
            }
        )
    )


main()
