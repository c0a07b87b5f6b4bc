/** Starts the embedded library of a data directory, searches, lists, and deletes its only library. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { median } from '../pairs.ts'

export interface LibraryUse {
  readonly startMs: number
  /** Medians of whole requests. */
  readonly searchMs: number
  readonly listMs: number
  /** The longest of the lists that were asked for while the library was deleted. */
  readonly listMsWhileDeleting: number
  /** Until its room was given back. */
  readonly deleteMs: number
  readonly bytesAfterwards: number
}

const shape = z.object({ dataDir: z.string(), words: z.array(z.string()), directory: z.string() })
const input = shape.parse(JSON.parse(process.argv[2] ?? '{}'))
const named = z.object({ items: z.array(z.object({ id: z.string() })) })

const begunMs = performance.now()
const service = await startEmbeddedLibrary({ dataDir: input.dataDir })
const startMs = performance.now() - begunMs
await service.settled()

async function request(path: string, method = 'GET'): Promise<string> {
  const headers = { authorization: `Bearer ${service.token}` }
  const answer = await fetch(`${service.url}/api/v1${path}`, { method, headers })
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
  return await answer.text()
}

async function timed(path: string): Promise<number> {
  const beforeMs = performance.now()
  await request(path)
  return performance.now() - beforeMs
}

const [library] = named.parse(JSON.parse(await request('/libraries'))).items
const searches: number[] = []
const lists: number[] = []
const searchFor = (word: string) =>
  timed(`/search/resources?${new URLSearchParams({ query: word, strategy: 'lexical' })}`)
const listPath = `/libraries/${library?.id}/directory?${new URLSearchParams({ path: input.directory, limit: '500' })}`
for (const word of input.words) await searchFor(word)
for (const word of [...input.words, ...input.words]) {
  searches.push(await searchFor(word))
  lists.push(await timed(listPath))
}
const deletingMs = performance.now()
await request(`/libraries/${library?.id}`, 'DELETE')
const meanwhile: number[] = []
const settled = { is: false }
const done = service.settled().then(() => {
  settled.is = true
})
while (!settled.is) meanwhile.push(await timed('/libraries'))
await done
const deleteMs = performance.now() - deletingMs
await service[Symbol.asyncDispose]()
const use: LibraryUse = {
  startMs,
  searchMs: median(searches),
  listMs: median(lists),
  listMsWhileDeleting: Math.max(0, ...meanwhile),
  deleteMs,
  bytesAfterwards: statSync(join(input.dataDir, 'library.sqlite')).size,
}
process.stdout.write(JSON.stringify(use))
