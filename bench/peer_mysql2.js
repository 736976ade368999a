// The peer mysql2: what Node's users pick for MySQL; rows come through prepared statements, one by one.
//
//     node peer_mysql2.js PACKAGE WORK URL TABLE ROWS UNITS      do WORK once, print one JSON line
//
// PACKAGE is the package's folder. The keys, the range and the line are participant.h's.
'use strict';
const fs = require('fs');
const [folder, work, url, table, ...numbers] = process.argv.slice(2);
const [rows, units] = numbers.map(Number);
const mysql = require(folder);
const words = ['a', 'to', 'sea', 'Zürich', 'river', 'Łódź', 'harbour', '東京', 'mountain', 'København',
  'evening', 'lamp', 'Straße', 'bread', 'one quite long word', 'winter wheat harvest!'];
const sums = { count: 0, ids: 0n, chars: 0, score: 0 };

function add(id, name, score) {
  sums.count++;
  sums.ids += BigInt(id);
  sums.chars += name.length; // none of the words has a surrogate pair
  sums.score += score;
}

function read(db, sql, parameters) {
  let small = 0; // below 2^53, added to the big sum at the end
  return new Promise((resolve, reject) => {
    db.execute({ sql, values: parameters, rowsAsArray: true })
      .on('error', reject)
      .on('result', ([id, name, score]) => {
        sums.count++;
        small += id;
        sums.chars += name.length;
        sums.score += score;
      })
      .on('end', () => { sums.ids += BigInt(small); resolve(); });
  });
}

function ask(db, sql, parameters = []) {
  return new Promise((resolve, reject) => {
    db.execute({ sql, values: parameters, rowsAsArray: true }, (error, got) => (error ? reject(error) : resolve(got)));
  });
}

async function lookups(db) {
  const sql = `SELECT name, score FROM ${table} WHERE id = ?`;
  for (let n = 0; n < units; n++) {
    const id = 1 + (n * 618033) % rows;
    for (const [name, score] of await ask(db, sql, [id])) add(id, name, score);
  }
}

async function insert(db) {
  const sql = `INSERT INTO ${table} VALUES (?, ?, ?)`;
  await ask(db, 'START TRANSACTION');
  for (let id = 1; id <= units; id++) {
    await ask(db, sql, [id, `${String(id).padStart(8, '0')} ${words[id & 15]}`, (id * 7919 % 1000003) / 8]);
  }
  await ask(db, 'COMMIT');
}

async function main() {
  const db = mysql.createConnection(url);
  const sql = `SELECT id, name, score FROM ${table}`;
  await ask(db, work === 'insert' ? `TRUNCATE TABLE ${table}` : 'SELECT 1');
  const before = process.cpuUsage(), start = process.hrtime.bigint();
  if (work === 'scan') await read(db, sql, []);
  else if (work === 'filter') {
    const low = Math.floor(rows / 2);
    await read(db, `${sql} WHERE id BETWEEN ? AND ?`, [low + 1, low + Math.floor(rows / 100)]);
  } else if (work === 'count') sums.count = (await ask(db, `SELECT count(*) FROM ${table}`))[0][0];
  else if (work === 'lookup') await lookups(db);
  else if (work === 'insert') await insert(db);
  else throw new Error(`no such work: ${work}`);
  const wall = Number(process.hrtime.bigint() - start) / 1e9, cpu = process.cpuUsage(before);
  if (work === 'insert') await read(db, sql, []); // what arrived is what counts
  const peak = Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync('/proc/self/status', 'ascii'))[1]);
  console.log(JSON.stringify({
    work, wall_s: wall, user_s: cpu.user / 1e6, sys_s: cpu.system / 1e6, rss_kb: peak,
    count: sums.count, ids: Number(sums.ids), chars: sums.chars, score: sums.score, units, server: '',
    client: `mysql2 ${require(`${folder}/package.json`).version}`,
  }));
  db.end();
}

main().catch((error) => {
  console.error(`peer_mysql2: ${error.message}`);
  process.exit(1);
});
