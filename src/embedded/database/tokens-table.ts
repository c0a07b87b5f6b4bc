import type { Database } from 'better-sqlite3'

export interface TokenRow {
  readonly id: number
  readonly selector: string
  readonly secretSha256: Buffer
  readonly name: string
  /** JSON arrays of strings. */
  readonly abilities: string
  readonly interfaces: string
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
}

export type NewToken = Omit<TokenRow, 'id' | 'revokedAtMs'>

const COLUMNS = `id, selector, secret_sha256 AS secretSha256, name, abilities, interfaces, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs, revoked_at_ms AS revokedAtMs`

export function tokensTable(database: Database) {
  const bySelector = database.prepare<[string], TokenRow>(`SELECT ${COLUMNS} FROM token WHERE selector = ?`)
  const byName = database.prepare<[string], TokenRow>(`SELECT ${COLUMNS} FROM token WHERE name = ?`)
  const all = database.prepare<[], TokenRow>(`SELECT ${COLUMNS} FROM token ORDER BY id`)
  const insert = database.prepare<NewToken>(
    `INSERT INTO token (selector, secret_sha256, name, abilities, interfaces, created_at_ms, expires_at_ms)
     VALUES (@selector, @secretSha256, @name, @abilities, @interfaces, @createdAtMs, @expiresAtMs)`,
  )
  const revoke = database.prepare<[number, string]>(
    'UPDATE token SET revoked_at_ms = ? WHERE name = ? AND revoked_at_ms IS NULL',
  )
  const remove = database.prepare<[string]>('DELETE FROM token WHERE name = ?')
  const grant = database.prepare<[number, number, string]>(
    'INSERT INTO token_library (token_id, library_id, access) VALUES (?, ?, ?)',
  )
  const access = database
    .prepare<[number, number], string>('SELECT access FROM token_library WHERE token_id = ? AND library_id = ?')
    .pluck()
  return {
    bySelector: (selector: string) => bySelector.get(selector),
    byName: (name: string) => byName.get(name),
    all: () => all.all(),
    insert: (token: NewToken) => Number(insert.run(token).lastInsertRowid),
    revoke: (name: string, nowMs: number) => revoke.run(nowMs, name).changes > 0,
    remove: (name: string) => {
      remove.run(name)
    },
    grantLibrary: (tokenId: number, libraryId: number, rights: string) => {
      grant.run(tokenId, libraryId, rights)
    },
    /** Returns the rights of the token on this library as a JSON array, without those on every library; undefined if there are none. */
    libraryAccess: (tokenId: number, libraryId: number) => access.get(tokenId, libraryId),
  }
}
