import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { GLOBAL_ABILITIES } from '../../contract/records.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import type { Tables } from '../database/open-tables.ts'
import { stringList } from '../database/string-list.ts'
import type { TokenRow } from '../database/tokens-table.ts'

export type Ability = (typeof GLOBAL_ABILITIES)[number]

/** Rights on one library. */
export const LIBRARY_RIGHTS = ['read', 'resource.create', 'update', 'resource.delete'] as const
export type LibraryRight = (typeof LIBRARY_RIGHTS)[number]

/** The rights that a valid token grants. */
export interface Grant {
  /** The row id of the token. */
  readonly tokenId: number
  readonly interfaces: readonly string[]
  readonly abilities: readonly string[]
  /** Returns the rights on this library, including those that an ability grants on every library. */
  accessTo(library: Pick<LibraryRow, 'id'>): LibraryRight[]
}

const TOKEN = /^kls_([0-9a-f]{16})_([\w-]{43})$/

/** Creates a new token of a selector, which finds its row, and a secret of 256 random bits, of which only the SHA-256 is stored. */
export function makeTokenSecret() {
  const selector = randomBytes(8).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  return { token: `kls_${selector}_${secret}`, selector, secretSha256: sha256(secret) }
}

/** Returns the grant of a token, or the reason why the token grants nothing. */
export function readGrant({ tokens }: Tables, token: string, nowMs: number): Grant | 'unknown' | 'revoked' | 'expired' {
  const [, selector = '', secret = ''] = TOKEN.exec(token) ?? []
  const row = tokens.bySelector(selector)
  if (!row || !timingSafeEqual(row.secretSha256, sha256(secret))) return 'unknown'
  if (row.revokedAtMs !== null) return 'revoked'
  if (row.expiresAtMs !== null && row.expiresAtMs <= nowMs) return 'expired'
  return grantOf(tokens, row)
}

function grantOf(tokens: Tables['tokens'], row: TokenRow): Grant {
  const abilities = stringList(row.abilities)
  return {
    tokenId: row.id,
    abilities,
    interfaces: stringList(row.interfaces),
    accessTo(library) {
      const own = stringList(tokens.libraryAccess(row.id, library.id) ?? '[]')
      return LIBRARY_RIGHTS.filter((right) => own.includes(right) || abilities.includes(`library.all.${right}`))
    },
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
