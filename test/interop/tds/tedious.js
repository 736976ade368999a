// The script of ../tdsd.test through tedious: tedious.js MODULE MODE PORT DATABASE PASSWORD CA
const fs = require('fs');
const [module_, mode, port, database, password, ca] = process.argv.slice(2);
const { Connection, Request, TYPES } = require(module_);

function open(secret) {
  const connection = new Connection({
    server: 'localhost',
    authentication: { type: 'default', options: { userName: 'edb', password: secret } },
    options: {
      port: Number(port), database, encrypt: mode === 'strict' ? 'strict' : true, trustServerCertificate: false,
      serverName: 'localhost', cryptoCredentialsDetails: { ca: fs.readFileSync(ca) }, packetSize: 16000,
      useUTC: true, rowCollectionOnRequestCompletion: true, requestTimeout: 20000, appName: 'tedious',
    },
  });
  return new Promise((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve(connection))));
}

// The rows of a statement, its parameters {name: [type, value]}.
function run(connection, sql, parameters = {}, batch = false, cancelAfter = 0) {
  return new Promise((resolve, reject) => {
    const request = new Request(sql, (error, count, rows) =>
      error ? reject(error) : resolve((rows || []).map((row) => row.map((column) => column.value))));
    for (const [name, [type, value, options]] of Object.entries(parameters)) request.addParameter(name, type, value, options);
    if (batch) connection.execSqlBatch(request);
    else connection.execSql(request);
    if (cancelAfter) setTimeout(() => connection.cancel(), cancelAfter);
  });
}

async function number(promise) {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return error.number || error.code;
  }
}

const call = (connection, method) => new Promise((resolve, reject) => connection[method]((error) => (error ? reject(error) : resolve())));

async function main() {
  const say = (what, ...values) => console.log(what + ': ' + values.join(' '));
  try {
    await open('wrong');
  } catch (error) {
    say('login', /Login failed/.test(error.message) ? 18456 : error.message);
  }
  const db = await open(password);
  await run(db, `CREATE TABLE v(i int PRIMARY KEY, b bigint, x float, d decimal(38,10), n nvarchar(100), c varchar(20) COLLATE Cyrillic_General_CI_AS,
    r varbinary(20), t datetime2(7), g uniqueidentifier, f bit, l nvarchar(max), m money)`, {}, true);
  const big = 'ä€😀x'.repeat(20000);
  const sql = 'INSERT INTO v(i,b,x,d,n,r,t,g,f,l,m,c) VALUES (@i,@b,@x,@d,@n,@r,@t,@g,@f,@l,@m,@c)';
  await run(db, sql, {
    i: [TYPES.Int, 1], b: [TYPES.BigInt, '-9223372036854775808'], x: [TYPES.Float, 0.1], d: [TYPES.VarChar, '-12345678901234567890.0123456789'],
    n: [TYPES.NVarChar, 'Zürich 東京 😀'], r: [TYPES.VarBinary, Buffer.from('00ff10', 'hex')], t: [TYPES.DateTime2, new Date(Date.UTC(2026, 1, 28, 23, 59, 59, 997)), { scale: 7 }],
    g: [TYPES.UniqueIdentifier, '01020304-0506-0708-090A-0B0C0D0E0F10'], f: [TYPES.Bit, true], l: [TYPES.NVarChar, big], m: [TYPES.VarChar, '-17.8'], c: [TYPES.NVarChar, 'Привет'],
  });
  await run(db, sql, {
    i: [TYPES.Int, 2], b: [TYPES.BigInt, null], x: [TYPES.Float, null], d: [TYPES.Decimal, null], n: [TYPES.NVarChar, null], r: [TYPES.VarBinary, null],
    t: [TYPES.DateTime2, null], g: [TYPES.UniqueIdentifier, null], f: [TYPES.Bit, null], l: [TYPES.NVarChar, null], m: [TYPES.Money, null], c: [TYPES.NVarChar, null],
  });
  const read = 'SELECT i, b, x, CAST(d AS varchar(50)), n, c, r, t, g, f, CAST(m AS varchar(30)), l FROM v ORDER BY i';
  for (const row of await run(db, read)) {
    const [i, b, x, d, n, c, r, t, g, f, m, l] = row;
    say('row', i, b, x, d, n, c, r && r.toString('hex'), t && t.toISOString(), g, f, m, l && l === big ? 'same' : l);
  }
  say('several', JSON.stringify(await run(db, 'SELECT 1; SELECT 2', {}, true)));
  await call(db, 'beginTransaction');
  await run(db, 'DELETE FROM v WHERE i = @i', { i: [TYPES.Int, 2] });
  await call(db, 'rollbackTransaction');
  say('rolled back', await run(db, 'SELECT COUNT(*) FROM v'));
  await call(db, 'beginTransaction');
  await run(db, 'DELETE FROM v WHERE i = 2');
  await call(db, 'commitTransaction');
  say('committed', await run(db, 'SELECT COUNT(*) FROM v'));
  say('errors', await number(run(db, 'SELECT * FROM nosuch')), await number(run(db, 'INSERT INTO v(i) VALUES (1)')), await number(run(db, 'SELECT 1/0')),
    await number(run(db, "RAISERROR('own',16,1)")), await number(run(db, 'SELEC')), await number(run(db, "SELECT CAST('x' AS int)")));
  const other = await open(password);
  await call(other, 'beginTransaction');
  await run(other, 'UPDATE v SET b = 5');
  say('locked', await number(run(db, 'SET LOCK_TIMEOUT 50; UPDATE v SET b = 6')));
  await call(other, 'rollbackTransaction');
  other.close();
  say('cancelled', await number(run(db, "WAITFOR DELAY '00:00:30'", {}, true, 200)), await run(db, 'SELECT 7'));
  db.close();
}

main().catch((error) => {
  console.log('failed:', error);
  process.exit(1);
});
