import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = fileURLToPath(new URL('../node_modules', import.meta.url))

/** Development alone installs them, and the bundle contains them with their licences: the client of PostgreSQL and its parts. */
export const FROM_DEVELOPMENT: readonly string[] = [
  ...['pg', 'pg-connection-string', 'pg-int8', 'pg-pool', 'pg-protocol', 'pg-types', 'pgpass'],
  ...['postgres-array', 'postgres-bytea', 'postgres-date', 'postgres-interval', 'split2', 'xtend'],
]

/** Returns a comment with the licence of a package whose code a file contains: licences ask to come along with every copy. */
export function licenceOf(name: string): string {
  const home = join(PACKAGES, name)
  const file = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry))
  const { license, author }: { license?: string; author?: unknown } = JSON.parse(
    readFileSync(join(home, 'package.json'), 'utf8'),
  )
  const text = file
    ? readFileSync(join(home, file), 'utf8').trim()
    : `Licence: ${license}, by ${JSON.stringify(author)}`
  return `/*! This file contains ${name} (https://www.npmjs.com/package/${name}).\n${text}\n*/\n`
}
