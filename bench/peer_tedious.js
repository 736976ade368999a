// The peer tedious: what Node's users pick for SQL Server, in strict; rows come one by one.
//
//     node peer_tedious.js PACKAGE WORK PORT DATABASE PASSWORD CA TABLE ROWS UNITS      do WORK once, print one JSON line
//
// PACKAGE is the package's folder. The keys and the line are participant.h's.
'use strict';
const fs = require('fs');
const [folder, work, port, database, password, ca, table, ...numbers] = process.argv.slice(2);
const [rows, units] = numbers.map(Number);
const { Connection, Request, TYPES } = require(folder);
const words = ['a', 'to', 'sea', 'Zürich', 'river', 'Łódź', 'harbour', '東京', 'mountain', 'København',
  'evening', 'lamp', 'Straße', 'bread', 'one quite long word', 'winter wheat harvest!'];
const sums = { count: 0, ids: 0, chars: 0, score: 0 };

function open() {
  const connection = new Connection({
    server: 'localhost',
    authentication: { type: 'default', options: { userName: 'edb', password } },
    options: {
      port: Number(port), database, encrypt: 'strict', trustServerCertificate: false, serverName: 'localhost',
      cryptoCredentialsDetails: { ca: fs.readFileSync(ca) }, packetSize: 16000, requestTimeout: 0,
    },
  });
  return new Promise((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve(connection))));
}

function add(id, name, score) {
  sums.count++;
  sums.ids += Number(id); // bigint comes as text
  sums.chars += name.length; // none of the words has a surrogate pair
  sums.score += score;
}

function batch(db, sql, onRow) {
  return new Promise((resolve, reject) => {
    const request = new Request(sql, (error) => (error ? reject(error) : resolve()));
    if (onRow) request.on('row', onRow);
    db.execSqlBatch(request);
  });
}

const read = (db) => batch(db, `SELECT id, name, score FROM ${table}`,
  ([id, name, score]) => add(id.value, name.value, score.value));

// A prepared statement: the Request is executed again and again, its callback told of each end.
function prepare(db, sql, parameters) {
  let done;
  const request = new Request(sql, (error) => done(error));
  for (const [name, type, options] of parameters) request.addParameter(name, type, null, options);
  const executed = (start) => new Promise((resolve, reject) => {
    done = (error) => (error ? reject(error) : resolve());
    start();
  });
  return new Promise((resolve, reject) => {
    request.once('prepared', () => resolve({ request, execute: (values) => executed(() => db.execute(request, values)) }));
    done = reject;
    db.prepare(request);
  });
}

async function lookups(db) {
  let id;
  const { request, execute } = await prepare(db, `SELECT name, score FROM ${table} WHERE id = @id`, [['id', TYPES.BigInt]]);
  request.on('row', ([name, score]) => add(id, name.value, score.value));
  for (let n = 0; n < units; n++) {
    id = 1 + (n * 618033) % rows;
    await execute({ id });
  }
}

async function insert(db) {
  const { execute } = await prepare(db, `INSERT INTO ${table} VALUES (@id, @name, @score)`,
    [['id', TYPES.BigInt], ['name', TYPES.NVarChar, { length: 40 }], ['score', TYPES.Float]]);
  await new Promise((resolve, reject) => db.beginTransaction((error) => (error ? reject(error) : resolve())));
  for (let id = 1; id <= units; id++) {
    await execute({ id, name: `${String(id).padStart(8, '0')} ${words[id & 15]}`, score: (id * 7919 % 1000003) / 8 });
  }
  await new Promise((resolve, reject) => db.commitTransaction((error) => (error ? reject(error) : resolve())));
}

async function main() {
  const db = await open();
  if (work === 'insert') await batch(db, `TRUNCATE TABLE ${table}`);
  const before = process.cpuUsage(), start = process.hrtime.bigint();
  if (work === 'scan') await read(db);
  else if (work === 'lookup') await lookups(db);
  else if (work === 'insert') await insert(db);
  else throw new Error(`no such work: ${work}`);
  const wall = Number(process.hrtime.bigint() - start) / 1e9, cpu = process.cpuUsage(before);
  if (work === 'insert') await read(db); // what arrived is what counts
  const peak = Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync('/proc/self/status', 'ascii'))[1]);
  console.log(JSON.stringify({
    work, wall_s: wall, user_s: cpu.user / 1e6, sys_s: cpu.system / 1e6, rss_kb: peak,
    count: sums.count, ids: sums.ids, chars: sums.chars, score: sums.score, units, server: '',
    client: `tedious ${require(`${folder}/package.json`).version}`,
  }));
  db.close();
}

main().catch((error) => {
  console.error(`peer_tedious: ${error.message}`);
  process.exit(1);
});
