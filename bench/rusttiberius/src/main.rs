//! The peer tiberius: a Rust program on the crate `tiberius`, TDS 7.4 inside OpenSSL's TLS. No SQLite is in it.
//!
//!     rusttiberius WORK PORT DATABASE PASSWORD CA TABLE ROWS UNITS      do WORK once, print one JSON line
//!
//! The keys and the line are participant.h's. It has no prepared statements: its execute and query are
//! sp_executesql each time.

use futures_util::TryStreamExt;
use std::time::Instant;
use tiberius::{error::Error, AuthMethod, Client, Config, EncryptionLevel, QueryItem};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

type Db = Client<Compat<TcpStream>>;

const WORDS: [&str; 16] = [
    "a", "to", "sea", "Zürich", "river", "Łódź", "harbour", "東京", "mountain", "København", "evening",
    "lamp", "Straße", "bread", "one quite long word", "winter wheat harvest!",
];

#[derive(Default)]
struct Sums {
    count: i64,
    ids: i64,
    chars: i64,
    score: f64,
}

impl Sums {
    fn add(&mut self, id: i64, name: &str, score: f64) {
        self.count += 1;
        self.ids += id;
        self.chars += name.chars().count() as i64;
        self.score += score;
    }
}

async fn open(arguments: &[String]) -> Result<Db, Error> {
    let port = arguments[2].parse().expect("a port");
    let mut config = Config::new();
    config.host("localhost");
    config.port(port);
    config.database(&arguments[3]);
    config.authentication(AuthMethod::sql_server("edb", &arguments[4]));
    config.encryption(EncryptionLevel::Required);
    config.trust_cert_ca(&arguments[5]);
    let tcp = TcpStream::connect(("127.0.0.1", port)).await?;
    tcp.set_nodelay(true)?;
    Client::connect(config, tcp.compat_write()).await
}

async fn read(db: &mut Db, sums: &mut Sums, table: &str) -> Result<(), Error> {
    let mut rows = db.simple_query(format!("SELECT id, name, score FROM {table}")).await?;
    while let Some(item) = rows.try_next().await? {
        if let QueryItem::Row(row) = item {
            sums.add(row.get(0).expect("id"), row.get::<&str, _>(1).expect("name"), row.get(2).expect("score"));
        }
    }
    Ok(())
}

async fn lookups(db: &mut Db, sums: &mut Sums, table: &str, rows: i64, units: i64) -> Result<(), Error> {
    let sql = format!("SELECT name, score FROM {table} WHERE id = @P1");
    for n in 0..units {
        let key = 1 + n * 618033 % rows;
        let row = db.query(sql.as_str(), &[&key]).await?.into_row().await?.expect("a row of that key");
        sums.add(key, row.get::<&str, _>(0).expect("name"), row.get(1).expect("score"));
    }
    Ok(())
}

async fn insert(db: &mut Db, table: &str, units: i64) -> Result<(), Error> {
    let sql = format!("INSERT INTO {table} VALUES (@P1, @P2, @P3)");
    db.simple_query("BEGIN TRAN").await?.into_results().await?;
    for id in 1..=units {
        let name = format!("{id:08} {}", WORDS[(id & 15) as usize]);
        db.execute(sql.as_str(), &[&id, &name.as_str(), &((id * 7919 % 1000003) as f64 / 8.0)]).await?;
    }
    db.simple_query("COMMIT").await?.into_results().await?;
    Ok(())
}

/// Peak memory in kB, and the processor seconds so far.
fn peak_kb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

fn cpu() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) / 100.0;
    (ticks(11), ticks(12)) // utime and stime; 100 ticks a second are Linux's interface
}

async fn run(arguments: &[String]) -> Result<(), Error> {
    let (work, table) = (arguments[1].as_str(), arguments[6].as_str());
    let (rows, units): (i64, i64) = (arguments[7].parse().expect("rows"), arguments[8].parse().expect("units"));
    let mut db = open(arguments).await?;
    if work == "insert" {
        db.simple_query(format!("TRUNCATE TABLE {table}")).await?.into_results().await?;
    }
    let mut sums = Sums::default();
    let (before, start) = (cpu(), Instant::now());
    match work {
        "scan" => read(&mut db, &mut sums, table).await?,
        "lookup" => lookups(&mut db, &mut sums, table, rows, units).await?,
        "insert" => insert(&mut db, table, units).await?,
        _ => panic!("no such work: {work}"),
    }
    let (wall, after) = (start.elapsed().as_secs_f64(), cpu());
    if work == "insert" {
        read(&mut db, &mut sums, table).await?; // what arrived is what counts
    }
    println!(
        "{{\"work\":\"{work}\",\"wall_s\":{wall:.6},\"user_s\":{:.2},\"sys_s\":{:.2},\"rss_kb\":{},\"count\":{},\
         \"ids\":{},\"chars\":{},\"score\":{:.3},\"units\":{units},\"server\":\"\",\"client\":\"tiberius 0.13.0\"}}",
        after.0 - before.0, after.1 - before.1, peak_kb(), sums.count, sums.ids, sums.chars, sums.score
    );
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 9 {
        eprintln!("usage: rusttiberius WORK PORT DATABASE PASSWORD CA TABLE ROWS UNITS");
        std::process::exit(2);
    }
    if let Err(error) = run(&arguments).await {
        eprintln!("rusttiberius: {error}");
        std::process::exit(1);
    }
}
