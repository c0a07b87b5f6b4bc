import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { searchResponse } from '../../../src/contract/records.ts'
import { startEmbeddingServer } from '../embedding/embedding-server.ts'
import { startLibrary } from '../temporary-library.ts'

/** A library of two larger texts of which the first is cut, started again. */
async function libraryWithDamage(options: Parameters<typeof startLibrary>[0] = {}) {
  const first = await startLibrary()
  const library = await first.client.createLibrary()
  const upload = async (word: string) => {
    const content = Array.from({ length: 2_500 }, (_, number) => `The ${word} ${number} dives in the bay.`).join('\n')
    const id = await first.client.uploaded(library, { name: `${word}.txt`, content })
    const files = readdirSync(join(first.dataDir, 'files'), { recursive: true, encoding: 'utf8' })
    return {
      id,
      files: files.filter((name) => name.endsWith('.zst')).map((name) => join(first.dataDir, 'files', name)),
    }
  }
  const damaged = await upload('gannet')
  const whole = await upload('physician')
  await first.library.settled()
  await first.stop()
  for (const file of damaged.files) truncateSync(file, 100)
  const { client, ...running } = await startLibrary({ ...options, dataDir: first.dataDir })
  return { ...running, client, library, damaged: damaged.id, whole: whole.id }
}

it.each(['detailed', 'compact'])('a damaged content fails no %s search that finds others', async (format) => {
  const { client, damaged, whole } = await libraryWithDamage()
  const answer = await client.get(`/search/resources?query=dives&strategy=lexical&output_format=${format}`)
  expect(answer.status, answer.text).toBe(200)
  const { results } = searchResponse.parse(answer.json)
  expect(results.map(({ resource }) => resource.id).sort()).toEqual([damaged, whole].sort())
})

it('a damaged content fails its own downloads, and its record can be shown', async () => {
  const { client, library, damaged, whole } = await libraryWithDamage()
  const statusOf = async (path: string) => (await client.get(path)).status
  expect(await statusOf(`/libraries/${library}/resources/${damaged}`)).toBe(200)
  expect([await statusOf(`/assets/${damaged}.0`), await statusOf(`/assets/${whole}.0`)]).toEqual([500, 200])
  expect(await statusOf(`/resources/${whole}`)).toBe(200)
})

it('a damaged content keeps no other from being embedded', async () => {
  const server = await startEmbeddingServer()
  await libraryWithDamage({ embedder: server.choice(), embedding: { calmMs: 0 } })
  await server.received(1)
  expect(server.texts().join()).toContain('physician')
})
