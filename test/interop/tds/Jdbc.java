// The script of ../tdsd.test through mssql-jdbc: java -cp JAR Jdbc.java MODE PORT DATABASE PASSWORD CA
import java.sql.*;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.*;

public class Jdbc {
  static String mode, port, database, certificate;

  static Connection open(String password) throws SQLException {
    // Only strict takes a certificate in PEM; 7.4 trusts whatever is shown.
    String trust = mode.equals("strict") ? "serverCertificate=" + certificate : "trustServerCertificate=true";
    return DriverManager.getConnection("jdbc:sqlserver://localhost:" + port + ";databaseName=" + database + ";encrypt="
        + (mode.equals("strict") ? "strict" : "true") + ";" + trust + ";packetSize=16000;loginTimeout=20", "edb", password);
  }

  interface Run { void run() throws SQLException; }

  static String number(Run run) {
    try {
      run.run();
      return "none";
    } catch (SQLException e) {
      return e.getErrorCode() != 0 ? "" + e.getErrorCode() : e.getMessage();
    }
  }

  static int count(Connection db) throws SQLException {
    try (ResultSet r = db.createStatement().executeQuery("SELECT COUNT(*) FROM v")) {
      r.next();
      return r.getInt(1);
    }
  }

  static void say(String what, Object... values) {
    StringJoiner line = new StringJoiner(" ", what + ": ", "");
    for (Object v : values) line.add(v == null ? "" : v.toString());
    System.out.println(line);
  }

  public static void main(String[] a) throws Exception {
    System.setOut(new java.io.PrintStream(System.out, true, "UTF-8"));
    mode = a[0];
    port = a[1];
    database = a[2];
    certificate = a[4].replace("ca.pem", "good.pem");
    say("login", number(() -> open("wrong")));
    Connection db = open(a[3]);
    Statement s = db.createStatement();
    s.execute("CREATE TABLE v(i int PRIMARY KEY, b bigint, x float, d decimal(38,10), n nvarchar(100), c varchar(20) COLLATE Cyrillic_General_CI_AS,"
        + " r varbinary(20), t datetime2(7), g uniqueidentifier, f bit, l nvarchar(max), m money)");
    String big = "ä€😀x".repeat(20000);
    PreparedStatement p = db.prepareStatement("INSERT INTO v(i,b,x,d,n,r,t,g,f,l,m,c) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    Object[] values = {1, Long.MIN_VALUE, 0.1, new java.math.BigDecimal("-12345678901234567890.0123456789"), "Zürich 東京 😀", new byte[] {0, -1, 16},
        LocalDateTime.of(2026, 2, 28, 23, 59, 59, 997000000), UUID.fromString("01020304-0506-0708-090A-0B0C0D0E0F10"), true, big, "-17.8", "Привет"};
    for (int i = 0; i < values.length; i++) p.setObject(i + 1, values[i]);
    p.execute();
    int[] types = {Types.INTEGER, Types.BIGINT, Types.DOUBLE, Types.DECIMAL, Types.NVARCHAR, Types.VARBINARY, Types.TIMESTAMP, Types.CHAR, Types.BIT, Types.NVARCHAR, Types.VARCHAR, Types.NVARCHAR};
    p.setInt(1, 2);
    for (int i = 1; i < types.length; i++) p.setNull(i + 1, types[i]);
    p.execute();
    ResultSet r = s.executeQuery("SELECT i, b, x, CAST(d AS varchar(50)), n, c, r, t, g, f, CAST(m AS varchar(30)), l FROM v ORDER BY i");
    while (r.next()) {
      byte[] bytes = r.getBytes(7);
      LocalDateTime t = r.getObject(8, LocalDateTime.class);
      String l = r.getString(12);
      say("row", r.getObject(1), r.getObject(2), r.getObject(3), r.getString(4), r.getString(5), r.getString(6),
          bytes == null ? null : HexFormat.of().formatHex(bytes), t == null ? null : t.format(DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")),
          r.getString(9), r.getObject(10), r.getString(11), big.equals(l) ? "same" : l);
    }
    List<String> several = new ArrayList<>();
    boolean more = s.execute("SELECT 1; SELECT 2");
    while (more) {
      r = s.getResultSet();
      while (r.next()) several.add("[" + r.getInt(1) + "]");
      more = s.getMoreResults();
    }
    say("several", "[" + String.join(",", several) + "]");
    Connection other = open(a[3]);
    other.setAutoCommit(false);
    try (PreparedStatement d = other.prepareStatement("DELETE FROM v WHERE i = ?")) {
      d.setInt(1, 2);
      d.execute();
    }
    other.rollback();
    say("rolled back", count(db));
    other.createStatement().execute("DELETE FROM v WHERE i = 2");
    other.commit();
    say("committed", count(db));
    List<String> found = new ArrayList<>();
    for (String sql : new String[] {"SELECT * FROM nosuch", "INSERT INTO v(i) VALUES (1)", "SELECT 1/0", "RAISERROR('own',16,1)", "SELEC", "SELECT CAST('x' AS int)"}) {
      found.add(number(() -> {
        Statement one = db.createStatement();
        if (one.execute(sql)) while (one.getResultSet().next()) { }
      }));
    }
    say("errors", String.join(" ", found));
    other.createStatement().execute("UPDATE v SET b = 5");
    say("locked", number(() -> db.createStatement().execute("SET LOCK_TIMEOUT 50; UPDATE v SET b = 6")));
    other.rollback();
    Statement wait = db.createStatement();
    new Timer(true).schedule(new TimerTask() {
      public void run() {
        try {
          wait.cancel();
        } catch (SQLException e) {
          say("cancel", e);
        }
      }
    }, 300);
    String cancelled = number(() -> wait.execute("WAITFOR DELAY '00:00:30'"));
    r = db.createStatement().executeQuery("SELECT 7");
    r.next();
    say("cancelled", cancelled.contains("cancel") ? "ECANCEL" : cancelled, r.getInt(1));
  }
}
