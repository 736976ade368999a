//! The peer rust-mysql: a Rust program on the crate `mysql`. No SQLite is in it.
//!
//!     rustmysql WORK URL TABLE ROWS UNITS      do WORK once, print one JSON line
//!
//! The keys, the range and the line are participant.h's. All rows come through prepared statements.

use mysql::prelude::Queryable;
use mysql::{Conn, Opts, Result, TxOpts};
use std::time::Instant;

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

fn read(conn: &mut Conn, sums: &mut Sums, sql: &str, parameters: Vec<i64>) -> Result<()> {
    let parameters = mysql::Params::Positional(parameters.into_iter().map(Into::into).collect());
    for row in conn.exec_iter(sql, parameters)? {
        let (id, name, score): (i64, String, f64) = mysql::from_row(row?);
        sums.add(id, &name, score);
    }
    Ok(())
}

fn lookups(conn: &mut Conn, sums: &mut Sums, table: &str, rows: i64, units: i64) -> Result<()> {
    let statement = conn.prep(format!("SELECT name, score FROM {table} WHERE id = ?"))?;
    for n in 0..units {
        let key = 1 + n * 618033 % rows;
        let row: Option<(String, f64)> = conn.exec_first(&statement, (key,))?;
        let (name, score) = row.expect("a row of that key");
        sums.add(key, &name, score);
    }
    Ok(())
}

fn insert(conn: &mut Conn, table: &str, units: i64) -> Result<()> {
    let mut transaction = conn.start_transaction(TxOpts::default())?;
    let statement = transaction.prep(format!("INSERT INTO {table} VALUES (?, ?, ?)"))?;
    for id in 1..=units {
        let name = format!("{id:08} {}", WORDS[(id & 15) as usize]);
        transaction.exec_drop(&statement, (id, name, (id * 7919 % 1000003) as f64 / 8.0))?;
    }
    transaction.commit()
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

fn run(arguments: &[String]) -> Result<()> {
    let (work, table) = (arguments[1].as_str(), arguments[3].as_str());
    let (rows, units): (i64, i64) = (arguments[4].parse().unwrap(), arguments[5].parse().unwrap());
    let mut conn = Conn::new(Opts::from_url(&arguments[2])?)?;
    let query = format!("SELECT id, name, score FROM {table}");
    if work == "insert" {
        conn.query_drop(format!("TRUNCATE TABLE {table}"))?;
    }
    let mut sums = Sums::default();
    let (before, start) = (cpu(), Instant::now());
    match work {
        "scan" => read(&mut conn, &mut sums, &query, vec![])?,
        "filter" => {
            let range = vec![rows / 2 + 1, rows / 2 + rows / 100];
            read(&mut conn, &mut sums, &format!("{query} WHERE id BETWEEN ? AND ?"), range)?
        }
        "count" => {
            let count: Option<i64> = conn.query_first(format!("SELECT count(*) FROM {table}"))?;
            sums.count = count.unwrap_or(0);
        }
        "lookup" => lookups(&mut conn, &mut sums, table, rows, units)?,
        "insert" => insert(&mut conn, table, units)?,
        _ => panic!("no such work: {work}"),
    }
    let (wall, after) = (start.elapsed().as_secs_f64(), cpu());
    if work == "insert" {
        read(&mut conn, &mut sums, &query, vec![])?; // what arrived is what counts
    }
    println!(
        "{{\"work\":\"{work}\",\"wall_s\":{wall:.6},\"user_s\":{:.2},\"sys_s\":{:.2},\"rss_kb\":{},\"count\":{},\
         \"ids\":{},\"chars\":{},\"score\":{:.3},\"units\":{units},\"server\":\"\",\"client\":\"mysql crate 28.0.4\"}}",
        after.0 - before.0, after.1 - before.1, peak_kb(), sums.count, sums.ids, sums.chars, sums.score
    );
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 6 {
        eprintln!("usage: rustmysql WORK URL TABLE ROWS UNITS");
        std::process::exit(2);
    }
    if let Err(error) = run(&arguments) {
        eprintln!("rustmysql: {error}");
        std::process::exit(1);
    }
}
