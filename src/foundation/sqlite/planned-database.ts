import Database from 'better-sqlite3'

/**
 * A database that plans each statement once, when it is prepared. SQLite would plan a statement anew for each value that a
 * bare parameter is compared with or that limits it, which takes ten times as long as most of our statements. better-sqlite3
 * cannot set the switch against that (SQLITE_DBCONFIG_ENABLE_QPSG); a sign before the parameter has the same effect.
 */
export class PlannedDatabase extends Database {
  override prepare<Parameters extends unknown[] | object = unknown[], Row = unknown>(sql: string) {
    return super.prepare<Parameters, Row>(planOnce(sql))
  }
}

function planOnce(sql: string): string {
  return sql.replace(/(?<![<>!=])(= ?|\b(?:LIMIT|IS) )(?=[?@])/g, '$1+')
}
