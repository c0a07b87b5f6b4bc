/**
 * `npm run real-documents`: collects real documents of all kinds, mirrors them by the real program into an embedded library, and checks
 * that each is found by words in it; see docs/development/embedded-library.md.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { pluck, ServiceClient } from '../../contract/service-client.ts'
import { homeVariables } from '../../support/home.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import { openWorkspace } from '../bench/workspace.ts'
import { flag, print, runInstrument } from '../instrument.ts'
import { collectDocuments } from './collect.ts'
import { examineDocuments } from './examine.ts'
import { makeDocuments } from './make-documents.ts'
import { missingStates, missOf, renderTable } from './render.ts'

const MIN_DOCUMENTS = 300

const OPTIONS = z.object({
  cache: z.string().default(join(tmpdir(), 'shelfd-packages')).describe('where downloaded packages are kept'),
  keep: flag().describe('keeps the documents and the library'),
})

await runInstrument('real-documents', OPTIONS, async ({ cache, keep }) => {
  using workspace = openWorkspace('real-documents')
  const home = keep ? mkdtempSync(join(tmpdir(), 'real-documents-')) : workspace.fresh('home')
  if (keep) print(`All is kept in ${home}`)
  const folder = join(home, 'documents')
  const collected = collectDocuments(folder, cache)
  const documents = [...collected, ...makeDocuments(folder, collected, print)]
  print(`${documents.length} documents`)
  if (documents.length < MIN_DOCUMENTS) throw new Error(`Fewer than ${MIN_DOCUMENTS} documents were found`)

  const dataDir = join(home, 'library')
  const startMs = performance.now()
  const env = { ...homeVariables(home), SHELFD_DATA_DIR: dataDir }
  const synced = await runShelfd(['sync', folder, '--quiet'], { env, cwd: home }).ended
  const seconds = Math.round((performance.now() - startMs) / 1_000)
  print(`shelfd sync ended with ${synced.exitCode} after ${seconds} s\n${synced.stderr}`)

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
  return misses.length + states.length === 0
})
