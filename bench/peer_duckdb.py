"""The peer duckdb: DuckDB with its postgres extension, which one PyPI package carries.

    peer_duckdb.py WORK URL TABLE ROWS UNITS      do WORK once, print one JSON line

The keys, the range and the line are participant.h's. DuckDB reads with several connections at once
where it likes to: that is what its user gets, so it is left on.
"""

import json
import resource
import sys
import time

import duckdb
import duckdb_extension_postgres_scanner  # the extension's file lies in it

SUMS = "count(*), sum(id), sum(length(name)), sum(score)"


def extension_file():
    import pathlib

    root = pathlib.Path(duckdb_extension_postgres_scanner.__file__).parent
    return next(root.rglob("postgres_scanner.duckdb_extension"))


def peak_kb():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def lookups(db, table, rows, units):
    count = ids = chars = score = 0
    for n in range(units):
        key = 1 + n * 618033 % rows
        for name, value in db.execute(f"SELECT name, score FROM {table} WHERE id = ?", [key]).fetchall():
            count, ids, chars, score = count + 1, ids + key, chars + len(name), score + value
    return count, ids, chars, score


def main():
    work, url, table, rows, units = sys.argv[1:6]
    rows, units = int(rows), int(units)
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    db.execute(f"LOAD '{extension_file()}'")
    db.execute(f"ATTACH '{url}' AS bench (TYPE postgres, READ_ONLY)")
    table = f"bench.public.{table}"
    sql = f"SELECT {SUMS} FROM {table}"
    if work == "count":
        sql = f"SELECT count(*), 0, 0, 0.0 FROM {table}"
    if work == "filter":
        sql += f" WHERE id BETWEEN {rows // 2 + 1} AND {rows // 2 + rows // 100}"
    db.execute(f"SELECT name FROM {table} WHERE id = 1").fetchall()  # connect, read the catalog

    cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    if work == "lookup":
        sums = lookups(db, table, rows, units)
    else:
        sums = db.execute(sql).fetchone()
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
                "server": "",
                "client": f"DuckDB {duckdb.__version__}",
            }
        )
    )


main()
