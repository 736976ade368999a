//! The script of ../../tdsd.test through tiberius: edb-tiberius MODE PORT DATABASE PASSWORD CA
use std::time::Duration;
use tiberius::{error::Error, AuthMethod, Client, Config, EncryptionLevel, Uuid};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

type Db = Client<Compat<TcpStream>>;

async fn open(password: &str) -> Result<Db, Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut config = Config::new();
    config.host("localhost");
    config.port(arguments[2].parse().unwrap());
    config.database(&arguments[3]);
    config.authentication(AuthMethod::sql_server("edb", password));
    config.encryption(EncryptionLevel::Required);
    config.trust_cert_ca(&arguments[5]);
    let tcp = TcpStream::connect(("127.0.0.1", arguments[2].parse().unwrap())).await?;
    tcp.set_nodelay(true)?;
    Client::connect(config, tcp.compat_write()).await
}

fn number<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "none".into(),
        Err(Error::Server(token)) => token.code().to_string(),
        Err(error) => error.to_string(),
    }
}

async fn batch(db: &mut Db, sql: &str) -> Result<usize, Error> {
    Ok(db.simple_query(sql).await?.into_results().await?.len())
}

async fn count(db: &mut Db) -> Result<i32, Error> {
    let row = db.simple_query("SELECT COUNT(*) FROM v").await?.into_row().await?;
    Ok(row.and_then(|row| row.get(0)).unwrap_or(-1))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let password = std::env::args().nth(4).unwrap();
    println!("login: {}", number(open("wrong").await));
    let mut db = open(&password).await?;
    batch(&mut db, "CREATE TABLE v(i int PRIMARY KEY, b bigint, x float, d decimal(38,10), n nvarchar(100), c varchar(20) COLLATE Cyrillic_General_CI_AS,
        r varbinary(20), t datetime2(7), g uniqueidentifier, f bit, l nvarchar(max), m money)").await?;
    let big = "ä€😀x".repeat(20000);
    let insert = "INSERT INTO v(i,b,x,d,n,r,t,g,f,l,m,c) VALUES (@P1,@P2,@P3,@P4,@P5,@P6,@P7,@P8,@P9,@P10,@P11,@P12)";
    let guid = Uuid::parse_str("01020304-0506-0708-090A-0B0C0D0E0F10").unwrap();
    db.execute(insert, &[&1i32, &i64::MIN, &0.1f64, &"-12345678901234567890.0123456789", &"Zürich 東京 😀", &&[0u8, 255, 16][..],
        &"2026-02-28T23:59:59.997", &guid, &true, &big.as_str(), &"-17.8", &"Привет"]).await?;
    db.execute(insert, &[&2i32, &None::<i64>, &None::<f64>, &None::<&str>, &None::<&str>, &None::<&[u8]>, &None::<&str>, &None::<Uuid>,
        &None::<bool>, &None::<&str>, &None::<&str>, &None::<&str>]).await?;
    let sql = "SELECT i, b, x, CAST(d AS varchar(50)), n, c, r, CONVERT(varchar(23), t, 126), g, f, CAST(m AS varchar(30)), l FROM v ORDER BY i";
    for row in db.simple_query(sql).await?.into_first_result().await? {
        let text = |at: usize| row.get::<&str, _>(at).unwrap_or("").to_string();
        let parts = [
            row.get::<i32, _>(0).map(|v| v.to_string()).unwrap_or_default(),
            row.get::<i64, _>(1).map(|v| v.to_string()).unwrap_or_default(),
            row.get::<f64, _>(2).map(|v| v.to_string()).unwrap_or_default(),
            text(3), text(4), text(5),
            row.get::<&[u8], _>(6).map(|v| v.iter().map(|b| format!("{b:02x}")).collect()).unwrap_or_default(),
            row.get::<&str, _>(7).map(|v| v.to_string() + "Z").unwrap_or_default(),
            row.get::<Uuid, _>(8).map(|v| v.to_string().to_uppercase()).unwrap_or_default(),
            row.get::<bool, _>(9).map(|v| v.to_string()).unwrap_or_default(),
            text(10),
            if text(11) == big { "same".into() } else { text(11) },
        ];
        println!("row: {}", parts.join(" "));
    }
    let several = db.simple_query("SELECT 1; SELECT 2").await?.into_results().await?;
    let several: Vec<String> = several.iter().map(|rows| format!("[{}]", rows[0].get::<i32, _>(0).unwrap())).collect();
    println!("several: [{}]", several.join(","));
    batch(&mut db, "BEGIN TRAN").await?;
    db.execute("DELETE FROM v WHERE i = @P1", &[&2i32]).await?;
    batch(&mut db, "ROLLBACK").await?;
    println!("rolled back: {}", count(&mut db).await?);
    batch(&mut db, "BEGIN TRAN").await?;
    batch(&mut db, "DELETE FROM v WHERE i = 2").await?;
    batch(&mut db, "COMMIT").await?;
    println!("committed: {}", count(&mut db).await?);
    let mut found = Vec::new();
    for sql in ["SELECT * FROM nosuch", "INSERT INTO v(i) VALUES (1)", "SELECT 1/0", "RAISERROR('own',16,1)", "SELEC", "SELECT CAST('x' AS int)"] {
        found.push(number(batch(&mut db, sql).await));
    }
    println!("errors: {}", found.join(" "));
    let mut other = open(&password).await?;
    batch(&mut other, "BEGIN TRAN; UPDATE v SET b = 5").await?;
    println!("locked: {}", number(batch(&mut db, "SET LOCK_TIMEOUT 50; UPDATE v SET b = 6").await));
    batch(&mut other, "ROLLBACK").await?;
    // tiberius sends no attention: a statement that is given up takes its connection with it.
    let waited = tokio::time::timeout(Duration::from_millis(200), batch(&mut db, "WAITFOR DELAY '00:00:30'")).await;
    let seven = other.simple_query("SELECT 7").await?.into_row().await?.unwrap();
    println!("cancelled: {} {}", if waited.is_err() { "ECANCEL" } else { "none" }, seven.get::<i32, _>(0).unwrap());
    Ok(())
}
