/** Starts the embedded library of a data directory, searches, lists, asks for states, and deletes one of its libraries. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { startEmbeddedLibrary } from '../../../../src/embedded/start-embedded.ts'
import { median } from '../pairs.ts'

export interface SearchTimes {
  /** The time that 95 of 100 searches don't exceed. */
  readonly p95Ms: number
  readonly perSecond: number
}

export interface LibraryUse {
  readonly startMs: number
  /** Medians of whole requests. */
  readonly searchMs: number
  /** Of one client, and of eight that ask at the same time. */
  readonly oneClient: SearchTimes
  readonly eightClients: SearchTimes
  readonly listMs: number
  readonly statusMs: number
  /** The longest of the requests that were made while a library was deleted. */
  readonly waitMsWhileDeleting: number
  readonly uploadMsWhileDeleting: number
  /** Until its room was given back. */
  readonly deleteMs: number
  readonly bytesAfterwards: number
}

const shape = z.object({
  dataDir: z.string(),
  words: z.array(z.string()),
  /** The name of the library to use. */
  library: z.string(),
  /** A directory of it with at least a file. */
  directory: z.string(),
  /** The name of the library to delete, maybe the same. */
  deletes: z.string(),
})
export type UseInput = z.infer<typeof shape>

const input = shape.parse(JSON.parse(process.argv[2] ?? '{}'))
const named = z.object({ id: z.string(), name: z.string() })
const librariesPage = z.object({ items: z.array(named) })
const filesPage = z.object({ files: z.array(z.object({ id: z.string() })) })

const begunMs = performance.now()
const service = await startEmbeddedLibrary({ dataDir: input.dataDir })
const startMs = performance.now() - begunMs
await service.settled()

async function request(path: string, init: RequestInit = {}): Promise<string> {
  const headers = { authorization: `Bearer ${service.token}`, ...init.headers }
  const answer = await fetch(`${service.url}/api/v1${path}`, { ...init, headers })
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
  return await answer.text()
}

async function timed(...asked: Parameters<typeof request>): Promise<number> {
  const beforeMs = performance.now()
  await request(...asked)
  return performance.now() - beforeMs
}

async function createLibrary(name: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const created = await request('/libraries', {
    method: 'POST',
    headers,
    body: JSON.stringify({ name, overview: null }),
  })
  return named.parse(JSON.parse(created)).id
}

/** Of bytes that the library has, so that it has nothing to ingest. */
async function uploadAgain(libraryId: string): Promise<number> {
  const form = new FormData()
  form.set('file', new File(['the same bytes'], 'again.txt', { type: 'text/plain' }))
  return await timed(`/libraries/${libraryId}/files`, { method: 'POST', body: form })
}

/** Does `ask` over and over until the service has nothing left to do; returns the longest time that one took. */
async function longestMeanwhile(ask: () => Promise<number>): Promise<number> {
  let isSettled = false
  let longest = 0
  const settling = service.settled().then(() => {
    isSettled = true
  })
  while (!isSettled) longest = Math.max(longest, await ask())
  await settling
  return longest
}

const libraries = librariesPage.parse(JSON.parse(await request('/libraries'))).items
const idOf = (name: string) => libraries.find((library) => library.name === name)?.id
const root = `/libraries/${idOf(input.library)}`
const listPath = `${root}/directory?${new URLSearchParams({ path: input.directory, limit: '500' })}`
const { files } = filesPage.parse(JSON.parse(await request(listPath)))
const searchFor = (word: string) =>
  timed(`/search/resources?${new URLSearchParams({ query: word, strategy: 'lexical' })}`)

const ROUNDS = 40

/** Each client sends its next search when the last one is answered. */
async function searchBy(clients: number): Promise<SearchTimes> {
  const { words } = input
  const askAll = async (client: number) => {
    const times: number[] = []
    for (let number = 0; number < ROUNDS * words.length; number += 1) {
      times.push(await searchFor(words[(number + client) % words.length] ?? ''))
    }
    return times
  }
  const beganMs = performance.now()
  const each = await Promise.all(Array.from({ length: clients }, (_, client) => askAll(client)))
  const seconds = (performance.now() - beganMs) / 1_000
  const times = each.flat().toSorted((one, other) => one - other)
  return { p95Ms: times[Math.floor(times.length * 0.95)] ?? Number.NaN, perSecond: times.length / seconds }
}

const searches: number[] = []
const lists: number[] = []
const states: number[] = []
for (const word of input.words) await searchFor(word)
for (const word of [...input.words, ...input.words]) {
  searches.push(await searchFor(word))
  lists.push(await timed(listPath))
}
const [oneClient, eightClients] = [await searchBy(1), await searchBy(8)]
for (const { id } of files.slice(0, 200)) states.push(await timed(`${root}/resources/${id}`))

const otherId = await createLibrary(`beside ${input.deletes}`)
await uploadAgain(otherId)
await service.settled()
const deletingMs = performance.now()
await request(`/libraries/${idOf(input.deletes)}`, { method: 'DELETE' })
const [waitMsWhileDeleting, uploadMsWhileDeleting] = await Promise.all([
  longestMeanwhile(() => timed('/libraries')),
  longestMeanwhile(() => uploadAgain(otherId)),
])
const deleteMs = performance.now() - deletingMs
await service[Symbol.asyncDispose]()
const use: LibraryUse = {
  startMs,
  searchMs: median(searches),
  oneClient,
  eightClients,
  listMs: median(lists),
  statusMs: median(states),
  waitMsWhileDeleting,
  uploadMsWhileDeleting,
  deleteMs,
  bytesAfterwards: statSync(join(input.dataDir, 'library.sqlite')).size,
}
process.stdout.write(JSON.stringify(use))
