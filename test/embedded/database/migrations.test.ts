import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { createToken } from '../../../src/embedded/access/manage-tokens.ts'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { inspectLibrary } from '../../../src/embedded/storage/check-library.ts'
import { OperatorError } from '../../../src/foundation/errors.ts'
import { migrationsWith } from '../../support/next-version.ts'
import { startLibrary } from '../temporary-library.ts'

const READ_AGAIN = "UPDATE resource SET status = 'running', warnings = NULL"

it.each(['src/embedded/database', 'src/store'])('each migration of %s has a number of its own', (folder) => {
  const numbers = readdirSync(join(folder, 'migrations'), 'utf8')
    .map((name) => name.slice(0, 3))
    .sort()
  expect(numbers[0]).toBe('001')
  expect(new Set(numbers).size).toBe(numbers.length)
})

it('an older library is backed up and migrated, and documents are read again where a migration wants it', async () => {
  const { client, library, dataDir, stop } = await startLibrary()
  const id = await client.createLibrary()
  const resourceId = await client.uploaded(id, { name: 'a.txt', content: 'a wombat' })
  await library.settled()
  await stop()
  const file = join(dataDir, 'library.sqlite')
  const migrationsDir = migrationsWith('src/embedded/database/migrations', `${READ_AGAIN}; DELETE FROM passage;`)
  const migrated = openLibraryDatabase(file, false, migrationsDir)
  expect(migrated.pragma('user_version', { simple: true })).toBe(2)
  migrated.pragma('user_version = 1')
  migrated.close()
  const backup = new Database(`${file}.v1.bak`, { readonly: true })
  expect(backup.prepare('SELECT status FROM resource').pluck().all()).toEqual([null])
  backup.close()
  const again = await startLibrary({ dataDir })
  await again.library.settled()
  const { json } = await again.client.get(`/libraries/${id}/resources/${resourceId}`)
  expect(json).toMatchObject({ ingestion_status: 'completed', abstract: 'a wombat' })
})

it('another schema before the first release has another application_id', async () => {
  const { dataDir, stop } = await startLibrary()
  await stop()
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const schema = readFileSync('src/embedded/database/migrations/001-initial.sql')
  const digest = createHash('sha256').update(schema).digest('hex').slice(0, 16)
  expect([digest, database.pragma('application_id', { simple: true })]).toEqual(['1e498163018a5ba9', 0x6b6c6236])
  database.close()
})

it('a library of a development version is refused with the way out', async () => {
  const { dataDir, stop } = await startLibrary()
  await stop()
  const database = new Database(join(dataDir, 'library.sqlite'))
  database.pragma(`application_id = ${0x6b6c6272}`)
  database.close()
  const refusal = expect.objectContaining({
    constructor: OperatorError,
    code: 'library-damaged',
    message: expect.stringMatching(/before the first release.*move its directory away/),
  })
  await expect(startEmbeddedLibrary({ dataDir })).rejects.toEqual(refusal)
  for (const open of [() => createToken(dataDir, { name: 'a' }, 0), () => inspectLibrary(dataDir)]) {
    expect(open).toThrow(refusal)
  }
})
