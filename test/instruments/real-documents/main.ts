/**
 * `npm run real-documents`: collects real documents of all kinds, mirrors them by the real program into an embedded library, and checks
 * that each is found by words in it; see docs/embedded-library.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { pluck, ServiceClient } from '../../contract/service-client.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import { collectDocuments } from './collect.ts'
import { examineDocuments } from './examine.ts'
import { makeDocuments } from './make-documents.ts'
import { missingStates, missOf, renderTable } from './render.ts'

const LEAST_DOCUMENTS = 300

const { values } = parseArgs({
  options: {
    cache: { type: 'string', default: join(tmpdir(), 'shelfd-packages') },
    keep: { type: 'boolean', default: false },
  },
})
const print = (text: string) => process.stdout.write(`${text}\n`)
const home = mkdtempSync(join(tmpdir(), 'real-documents-'))
try {
  const folder = join(home, 'documents')
  const collected = collectDocuments(folder, values.cache)
  const documents = [...collected, ...makeDocuments(folder, collected, print)]
  print(`${documents.length} documents`)
  if (documents.length < LEAST_DOCUMENTS) throw new Error(`Fewer than ${LEAST_DOCUMENTS} documents were found`)

  const dataDir = join(home, 'library')
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    SHELFD_ALLOW_ROOT: '1',
    SHELFD_NO_SYSTEM_CONFIG: '1',
    SHELFD_DATA_DIR: dataDir,
  }
  const started = process.hrtime.bigint()
  const synced = await runShelfd(['sync', folder, '--quiet'], { env, cwd: home }).ended
  print(
    `shelfd sync ended with ${synced.exitCode} after ${(process.hrtime.bigint() - started) / 1_000_000_000n} s\n${synced.stderr}`,
  )

  await using library = await startEmbeddedLibrary({ dataDir })
  const client = new ServiceClient(library)
  const [id] = pluck((await client.get('/libraries')).json.items, 'id')
  const examined = await examineDocuments(client, documents, { library: String(id), root: '/documents', folder })

  print(renderTable(examined))
  const misses = examined.flatMap((document) => {
    const miss = missOf(document)
    return miss === undefined ? [] : [`${document.path}: ${miss}`]
  })
  const states = missingStates(examined).map((state) => `No document ended ${state}`)
  for (const line of [...misses, ...states]) print(line)
  print(`${misses.length} misses`)
  process.exitCode = misses.length + states.length === 0 ? 0 : 1
} finally {
  if (values.keep) print(`Kept in ${home}`)
  else rmSync(home, { recursive: true, force: true })
}
