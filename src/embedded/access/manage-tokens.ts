import { GLOBAL_ABILITIES } from '../../contract/records.ts'
import { UsageError } from '../../foundation/errors.ts'
import { explainDamage, openLibraryDatabase } from '../database/open-library-database.ts'
import { openTables, type Tables } from '../database/open-tables.ts'
import { stringList } from '../database/string-list.ts'
import type { TokenRow } from '../database/tokens-table.ts'
import { type DataPaths, existingDatabaseFile, readTextFile, writeTextFile } from '../storage/data-directory.ts'
import { type Ability, type LibraryRight, makeTokenSecret } from './grant.ts'

export interface TokenSpec {
  /** Unique among the tokens of the service. */
  readonly name: string
  readonly abilities?: readonly Ability[]
  /** Rights on each of `libraries`. */
  readonly access?: readonly LibraryRight[]
  /** Identifiers or exact names; `all` includes libraries that are created later. */
  readonly libraries?: readonly string[] | 'all'
  /** Default `api`. */
  readonly interfaces?: readonly ('api' | 'mcp')[]
  readonly expiresAtMs?: number
}

/**
 * Creates a token in a data directory, whether its service runs or not, and returns its text, which cannot be read again later. Throws
 * UsageError if the name is in use, a library is unknown or the directory holds no service, OperatorError if its database cannot be used.
 */
export function createToken(dataDir: string, spec: TokenSpec, nowMs: number): string {
  return withTables(dataDir, (tables, transact) => transact(() => insertToken(tables, spec, nowMs)))
}

/** Returns all tokens, including revoked and expired ones, the oldest first. */
export function listTokens(dataDir: string): TokenListing[] {
  return withTables(dataDir, (tables) => tables.tokens.all().map((row) => listingOf(tables, row)))
}

/** Revokes a token; a running service refuses it from the next request on. Returns false if it is missing or already revoked. */
export function revokeToken(dataDir: string, name: string, nowMs: number): boolean {
  return withTables(dataDir, (tables) => tables.tokens.revoke(name, nowMs))
}

function withTables<T>(dataDir: string, work: (tables: Tables, transact: <R>(inner: () => R) => R) => T): T {
  const databaseFile = existingDatabaseFile(dataDir)
  const database = explainDamage(() => openLibraryDatabase(databaseFile))
  try {
    return work(openTables(database), (inner) => database.transaction(inner).immediate())
  } finally {
    database.close()
  }
}

function insertToken(tables: Tables, spec: TokenSpec, nowMs: number): string {
  if (tables.tokens.byName(spec.name)) throw new UsageError('bad-usage', `The token name "${spec.name}" is in use`)
  const { token, ...secret } = makeTokenSecret()
  const access = spec.access ?? []
  const everywhere = spec.libraries === 'all' ? access.map((right) => `library.all.${right}`) : []
  const tokenId = tables.tokens.insert({
    ...secret,
    name: spec.name,
    abilities: JSON.stringify([...new Set([...(spec.abilities ?? []), ...everywhere])]),
    interfaces: JSON.stringify(spec.interfaces ?? ['api']),
    createdAtMs: nowMs,
    expiresAtMs: spec.expiresAtMs ?? null,
  })
  for (const library of spec.libraries === 'all' ? [] : (spec.libraries ?? [])) {
    tables.tokens.grantLibrary(tokenId, libraryIdOf(tables, library), JSON.stringify(access))
  }
  return token
}

function libraryIdOf({ libraries }: Tables, nameOrId: string): number {
  const library = libraries.byPublicId(nameOrId) ?? libraries.byName(nameOrId)
  if (!library) throw new UsageError('unknown-library', `There is no library "${nameOrId}"`)
  return library.id
}

/** A token without its secret, for lists. */
export type TokenListing = ReturnType<typeof listingOf>

function listingOf(tables: Tables, row: TokenRow) {
  const { name, createdAtMs, expiresAtMs, revokedAtMs } = row
  const libraries = tables.libraries.all().map((library) => ({
    name: library.name,
    access: stringList(tables.tokens.libraryAccess(row.id, library.id) ?? '[]'),
  }))
  return {
    name,
    abilities: stringList(row.abilities),
    interfaces: stringList(row.interfaces),
    libraries: libraries.filter(({ access }) => access.length > 0),
    createdAtMs,
    expiresAtMs,
    revokedAtMs,
  }
}

const OWNER = 'owner'

/** Returns the owner's token, which has all rights. If its file does not exist, creates a new one and the file. */
export function ensureOwnerToken(paths: DataPaths, tables: Tables, nowMs: number): string {
  const written = readTextFile(paths.tokenFile)
  if (written !== undefined) return written
  tables.tokens.remove(OWNER)
  const token = insertToken(tables, { name: OWNER, abilities: GLOBAL_ABILITIES, interfaces: ['api', 'mcp'] }, nowMs)
  writeTextFile(paths.tokenFile, token)
  return token
}
