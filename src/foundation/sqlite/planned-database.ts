import Database from 'better-sqlite3'

/**
 * A database whose statements are planned once, when they are prepared. SQLite would plan a statement anew for each value
 * that a bare parameter is compared with or that limits it, which takes ten times as long as most statements of ours; the
 * switch against it (SQLITE_DBCONFIG_ENABLE_QPSG) can't be reached from here, and a sign in front does the same.
 */
export class PlannedDatabase extends Database {
  override prepare<Parameters extends unknown[] | object = unknown[], Row = unknown>(sql: string) {
    return super.prepare<Parameters, Row>(planOnce(sql))
  }
}

function planOnce(sql: string): string {
  return sql.replace(/(?<![<>!=])(= ?|\b(?:LIMIT|IS) )(?=[?@])/g, '$1+')
}
