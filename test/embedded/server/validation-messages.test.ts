import { beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import { makeDirectory } from '../temporary-library.ts'

/** Words of a validator, a parser or a type system. */
const JARGON =
  /\b(?:expected|received|invalid input|NaN|undefined|null|regex|pattern|string|union|zod|token|FST_\w+)\b/i

const WRONG_VALUES: readonly unknown[] = ['', 'x', -1, 0, 1.5, 1e300, null, true, [], {}, 'x'.repeat(20_000)]

describe('refused requests', () => {
  let client: ServiceClient
  const ids = { library: '', resource: '', asset: '' }

  beforeAll(async () => {
    const { directory, remove } = makeDirectory()
    const service = await startEmbeddedLibrary({ dataDir: directory })
    client = new ServiceClient(service)
    ids.library = await client.createLibrary()
    ids.resource = await client.uploaded(ids.library, { name: 'a.txt', content: 'text' })
    const record = await client.processed(ids.library, ids.resource)
    ids.asset = Array.isArray(record.assets) ? record.assets[0].id : ''
    return async () => {
      await service[Symbol.asyncDispose]()
      remove()
    }
  })

  const expectWords = (text: string, request: unknown) => {
    const messages = JSON.stringify(Object.values(JSON.parse(text)))
    expect({ request, messages, jargon: JARGON.exec(messages)?.[0] }).toEqual({ request, messages, jargon: undefined })
  }

  test.each([
    ['/libraries', ['limit', 'cursor']],
    ['/libraries/{library}/directory', ['path', 'limit', 'cursor']],
    ['/search/resources', ['query', 'library_ids[]', 'strategy', 'limit', 'output_format']],
    ['/resources/{resource}', ['disposition', 'expires', 'tenant_id']],
    ['/assets/{asset}', ['disposition', 'expires', 'tenant_id']],
    ['/assets/{asset}/representations/frame', ['timestamp_seconds', 'disposition']],
  ])('a refused GET %s is explained in words', async (path, parameters) => {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name])
    let refusals = 0
    for (const parameter of parameters) {
      for (const value of ['', 'x', '-1', '0', '1.5', '1e3', '99999999999', '\0', '.', '/..', 'x'.repeat(20_000)]) {
        for (const times of [1, 2]) {
          const query = new URLSearchParams(Array.from({ length: times }, (): [string, string] => [parameter, value]))
          const { status, text } = await client.get(`${target}?${query}`)
          if (status === 200) continue
          expect([404, 422]).toContain(status)
          expectWords(text, { parameter, value: value.slice(0, 20) })
          refusals += 1
        }
      }
    }
    expect(refusals).toBeGreaterThan(5)
  })

  test.each([
    ['/libraries', { name: 'x', overview: null }],
    ['/libraries/{library}/directory', { path: '/x' }],
    ['/assets/{asset}/view-urls', { ttl_minutes: 1, disposition: 'inline', representation: 'content' }],
    ['/resources/{resource}/view-urls', { ttl_minutes: 1, disposition: 'inline' }],
  ])('a refused POST %s is explained in words', async (path, body) => {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name])
    const wrong = Object.keys(body).flatMap((field) => WRONG_VALUES.map((value) => ({ ...body, [field]: value })))
    const texts = [...wrong, {}, [], 'x', 1, null].map((each) => JSON.stringify(each))
    let refusals = 0
    for (const text of [...texts, '{', '', 'x', '{"name":']) {
      const headers = { 'content-type': 'application/json' }
      const answer = await client.send(target, { method: 'POST', headers, body: text })
      if (answer.status < 300) continue
      expect([answer.status, text.slice(0, 50)]).toEqual([422, text.slice(0, 50)])
      expectWords(answer.text, { path, text: text.slice(0, 50) })
      refusals += 1
    }
    expect(refusals).toBeGreaterThan(5)
  })
})
