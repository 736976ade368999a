// The peer go-mssqldb: a Go program on the driver that Go users pick for SQL Server. No SQLite is in it.
//
//	gomssql WORK PORT DATABASE PASSWORD CA TABLE ROWS UNITS      do WORK once in strict, print one JSON line
//
// The keys and the line are participant.h's.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	_ "github.com/microsoft/go-mssqldb"
)

type sums struct {
	count, ids, chars int64
	score             float64
}

func (s *sums) add(id int64, name string, score float64) {
	s.count++
	s.ids += id
	s.chars += int64(utf8.RuneCountInString(name))
	s.score += score
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gomssql:", err)
		os.Exit(1)
	}
}

func connect(ctx context.Context, port, database, password, ca string) *sql.Conn {
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("edb", password), Host: "localhost:" + port,
		RawQuery: url.Values{"database": {database}, "encrypt": {"strict"}, "certificate": {ca},
			"hostNameInCertificate": {"localhost"}, "packet size": {"16000"}}.Encode()}
	db, err := sql.Open("sqlserver", u.String())
	check(err)
	conn, err := db.Conn(ctx)
	check(err)
	return conn
}

// read adds the rows (id, name, score) of a query.
func read(ctx context.Context, conn *sql.Conn, s *sums, query string) {
	rows, err := conn.QueryContext(ctx, query)
	check(err)
	var id int64
	var name string
	var score float64
	for rows.Next() {
		check(rows.Scan(&id, &name, &score))
		s.add(id, name, score)
	}
	check(rows.Err())
	check(rows.Close())
}

func lookups(ctx context.Context, conn *sql.Conn, s *sums, table string, rows, units int64) {
	stmt, err := conn.PrepareContext(ctx, "SELECT name, score FROM "+table+" WHERE id = @p1")
	check(err)
	var name string
	var score float64
	for n := int64(0); n < units; n++ {
		key := 1 + n*618033%rows
		check(stmt.QueryRowContext(ctx, key).Scan(&name, &score))
		s.add(key, name, score)
	}
	check(stmt.Close())
}

var words = strings.Split("a to sea Zürich river Łódź harbour 東京 mountain København evening lamp Straße bread", " ")

func name(id int64) string {
	list := append(words[:14:14], "one quite long word", "winter wheat harvest!")
	return fmt.Sprintf("%08d %s", id, list[id&15])
}

func insert(ctx context.Context, conn *sql.Conn, table string, units int64) {
	tx, err := conn.BeginTx(ctx, nil)
	check(err)
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO "+table+" VALUES (@p1, @p2, @p3)")
	check(err)
	for id := int64(1); id <= units; id++ {
		_, err := stmt.ExecContext(ctx, id, name(id), float64(id*7919%1000003)/8)
		check(err)
	}
	check(tx.Commit())
}

func peakKB() int64 {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			check(err)
			return kb
		}
	}
	return 0
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == "github.com/microsoft/go-mssqldb" {
			return "go-mssqldb " + dep.Version
		}
	}
	return "go-mssqldb"
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func main() {
	if len(os.Args) != 9 {
		fmt.Fprintln(os.Stderr, "usage: gomssql WORK PORT DATABASE PASSWORD CA TABLE ROWS UNITS")
		os.Exit(2)
	}
	work, table := os.Args[1], os.Args[6]
	rows, err := strconv.ParseInt(os.Args[7], 10, 64)
	check(err)
	units, err := strconv.ParseInt(os.Args[8], 10, 64)
	check(err)
	ctx := context.Background()
	conn := connect(ctx, os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	query := "SELECT id, name, score FROM " + table
	if work == "insert" {
		_, err := conn.ExecContext(ctx, "TRUNCATE TABLE "+table)
		check(err)
	}
	var s sums
	var before, after syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	start := time.Now() // Go compares monotonic readings
	switch work {
	case "scan":
		read(ctx, conn, &s, query)
	case "lookup":
		lookups(ctx, conn, &s, table, rows, units)
	case "insert":
		insert(ctx, conn, table, units)
	default:
		check(fmt.Errorf("no such work: %s", work))
	}
	wall := time.Since(start).Seconds()
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	if work == "insert" { // what arrived is what counts
		read(ctx, conn, &s, query)
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"work": work, "wall_s": wall,
		"user_s": seconds(after.Utime) - seconds(before.Utime),
		"sys_s":  seconds(after.Stime) - seconds(before.Stime),
		"rss_kb": peakKB(), "count": s.count, "ids": s.ids, "chars": s.chars, "score": s.score,
		"units": units, "server": "", "client": version(),
	}))
	check(conn.Close())
}
