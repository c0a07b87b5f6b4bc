import { expect } from 'vitest'
import { searchResponse } from '../../../src/contract/records.ts'
import type { ServiceClient } from '../../contract/service-client.ts'

export async function search(client: ServiceClient, query: string, more: Readonly<Record<string, string>> = {}) {
  const answer = await client.get(`/search/resources?${new URLSearchParams({ query, ...more })}`)
  expect(answer.status, answer.text).toBe(200)
  const { notice, results } = searchResponse.parse(answer.json)
  return { notice, ids: results.map(({ resource }) => resource.id), results }
}

/** Uploads a file for each text; resolves with their identifiers. */
export async function upload(client: ServiceClient, library: string, texts: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const [index, content] of texts.entries()) {
    ids.push(await client.uploaded(library, { name: `n${index}.txt`, content }))
  }
  return ids
}
