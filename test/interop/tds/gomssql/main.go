// The script of ../tdsd.test through go-mssqldb: gomssql MODE PORT DATABASE PASSWORD CA
package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func number(err error) any {
	var e mssql.Error
	if err == nil {
		return "none"
	}
	if errors.As(err, &e) {
		return e.Number
	}
	return err
}

func open(password string) *sql.DB {
	mode := map[string]string{"strict": "strict", "mandatory": "true"}[os.Args[1]]
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("edb", password), Host: "localhost:" + os.Args[2],
		RawQuery: url.Values{"database": {os.Args[3]}, "encrypt": {mode}, "certificate": {os.Args[5]}, "app name": {"go-mssqldb"}, "packet size": {"16000"},
			"hostNameInCertificate": {"localhost"}}.Encode()}
	db, err := sql.Open("sqlserver", u.String())
	check(err)
	db.SetMaxOpenConns(2)
	return db
}

func text(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case []byte:
		return hex.EncodeToString(x)
	case time.Time:
		return x.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return fmt.Sprint(v)
}

func count(q interface {
	QueryRow(string, ...any) *sql.Row
}, what string) (n int) {
	check(q.QueryRow(what).Scan(&n))
	return
}

func main() {
	say := func(what string, values ...any) { fmt.Println(what + ": " + strings.TrimRight(fmt.Sprintln(values...), "\n")) }
	say("login", number(open("wrong").Ping()))
	db := open(os.Args[4])
	_, err := db.Exec(`CREATE TABLE v(i int PRIMARY KEY, b bigint, x float, d decimal(38,10), n nvarchar(100), c varchar(20) COLLATE Cyrillic_General_CI_AS,
    r varbinary(20), t datetime2(7), g uniqueidentifier, f bit, l nvarchar(max), m money)`)
	check(err)
	big := strings.Repeat("ä€😀x", 20000)
	insert, err := db.Prepare("INSERT INTO v(i,b,x,d,n,r,t,g,f,l,m,c) VALUES (@p1,@p2,@p3,@p4,@p5,@p6,@p7,@p8,@p9,@p10,@p11,@p12)")
	check(err)
	var guid mssql.UniqueIdentifier
	check(guid.Scan("01020304-0506-0708-090A-0B0C0D0E0F10"))
	_, err = insert.Exec(1, int64(-9223372036854775808), 0.1, "-12345678901234567890.0123456789", "Zürich 東京 😀", []byte{0, 255, 16},
		time.Date(2026, 2, 28, 23, 59, 59, 997e6, time.UTC), guid, true, big, "-17.8", "Привет")
	check(err)
	_, err = insert.Exec(2, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	check(err)
	check(insert.Close())
	rows, err := db.Query("SELECT i, b, x, CAST(d AS varchar(50)), n, c, r, t, g, f, CAST(m AS varchar(30)), l FROM v ORDER BY i")
	check(err)
	for rows.Next() {
		v := make([]any, 12)
		p := make([]any, 12)
		for i := range v {
			p[i] = &v[i]
		}
		check(rows.Scan(p...))
		if raw, ok := v[8].([]byte); ok {
			var g mssql.UniqueIdentifier
			check(g.Scan(raw))
			v[8] = g.String()
		}
		if v[11] == big {
			v[11] = "same"
		}
		var parts []string
		for _, one := range v {
			parts = append(parts, text(one))
		}
		fmt.Println("row: " + strings.Join(parts, " "))
	}
	check(rows.Err())
	rows, err = db.Query("SELECT 1; SELECT 2")
	check(err)
	var several []string
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var n int
			check(rows.Scan(&n))
			several = append(several, fmt.Sprintf("[%d]", n))
		}
	}
	say("several", "["+strings.Join(several, ",")+"]")
	tx, err := db.Begin()
	check(err)
	_, err = tx.Exec("DELETE FROM v WHERE i = @p1", 2)
	check(err)
	check(tx.Rollback())
	say("rolled back", count(db, "SELECT COUNT(*) FROM v"))
	tx, err = db.Begin()
	check(err)
	_, err = tx.Exec("DELETE FROM v WHERE i = 2")
	check(err)
	check(tx.Commit())
	say("committed", count(db, "SELECT COUNT(*) FROM v"))
	var found []any
	for _, s := range []string{"SELECT * FROM nosuch", "INSERT INTO v(i) VALUES (1)", "SELECT 1/0", "RAISERROR('own',16,1)", "SELEC", "SELECT CAST('x' AS int)"} {
		var n any
		err := db.QueryRow(s).Scan(&n)
		found = append(found, number(err))
	}
	say("errors", found...)
	tx, err = db.Begin()
	check(err)
	_, err = tx.Exec("UPDATE v SET b = 5")
	check(err)
	_, err = db.Exec("SET LOCK_TIMEOUT 50; UPDATE v SET b = 6")
	say("locked", number(err))
	check(tx.Rollback())
	// A deadline would count as an error of the network, after which go-mssqldb gives the connection up.
	c, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	conn, err := db.Conn(context.Background())
	check(err)
	_, err = conn.ExecContext(c, "WAITFOR DELAY '00:00:30'")
	word := "none"
	if err != nil {
		word = "ECANCEL"
	}
	var seven int
	check(conn.QueryRowContext(context.Background(), "SELECT 7").Scan(&seven))
	say("cancelled", word, seven)
}
