import { beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import { makeDirectory } from '../temporary-library.ts'

const SMALL = new TextEncoder().encode('0123456789')
/** Headers of the connection, which undici closes after a HEAD. */
const OF_CONNECTION = new Set(['date', 'connection', 'keep-alive'])
const LARGE = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251)

describe('downloads', () => {
  const targets = new Map<string, { readonly path: string; readonly content: Uint8Array }>()
  let client: ServiceClient

  beforeAll(async () => {
    const { directory, remove } = makeDirectory()
    const service = await startEmbeddedLibrary({ dataDir: directory })
    client = new ServiceClient(service)
    const library = await client.createLibrary()
    const small = await client.uploaded(library, { name: 'small.txt', content: SMALL })
    const large = await client.uploaded(library, { name: 'large.bin', type: 'video/mp4', content: LARGE })
    const record = await client.processed(library, small)
    const [asset] = Array.isArray(record.assets) ? record.assets : []
    targets.set('a small file', { path: `/resources/${small}`, content: SMALL })
    targets.set('a large file', { path: `/resources/${large}`, content: LARGE })
    targets.set('an asset', { path: `/assets/${asset.id}`, content: SMALL })
    return async () => {
      await service[Symbol.asyncDispose]()
      remove()
    }
  })

  const ask = async (name: string, headers: Readonly<Record<string, string>>, method = 'GET') => {
    const { path, content } = targets.get(name) ?? { path: '', content: SMALL }
    const response = await client.fetch(path, { headers, method })
    return { response, content, bytes: new Uint8Array(await response.arrayBuffer()) }
  }

  describe.each(['a small file', 'a large file', 'an asset'])('%s', (name) => {
    test('a download gives the bytes of a range alone', async () => {
      for (const [range, from, to] of [
        ['bytes=2-5', 2, 6],
        ['bytes=7-', 7, undefined],
        ['bytes=-3', -3, undefined],
      ] as const) {
        const { response, content, bytes } = await ask(name, { range })
        const expected = content.slice(from, to)
        const start = from < 0 ? content.length + from : from
        expect([range, response.status, bytes]).toEqual([range, 206, expected])
        expect(response.headers.get('content-length')).toBe(String(expected.length))
        expect(response.headers.get('content-range')).toBe(
          `bytes ${start}-${start + expected.length - 1}/${content.length}`,
        )
      }
    })

    test('a download refuses a range beyond its end', async () => {
      const { response, content, bytes } = await ask(name, { range: 'bytes=200000-' })
      expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${content.length}`])
      expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({
        message: `The file has only ${content.length} bytes`,
      })
    })

    test('a download has an entity tag that avoids sending the bytes again', async () => {
      const whole = await ask(name, {})
      const tag = whole.response.headers.get('etag') ?? ''
      expect([whole.response.status, whole.bytes]).toEqual([200, whole.content])
      const again = await ask(name, { 'if-none-match': tag })
      expect([again.response.status, again.bytes.length]).toEqual([304, 0])
      expect((await ask(name, { 'if-none-match': '"another"' })).response.status).toBe(200)
      expect((await ask(name, { range: 'bytes=1-2', 'if-range': tag })).response.status).toBe(206)
      expect((await ask(name, { range: 'bytes=1-2', 'if-range': '"another"' })).response.status).toBe(200)
    })

    test('a download answers HEAD as GET, without the bytes', async () => {
      const [get, head] = [await ask(name, {}), await ask(name, { range: 'bytes=1-2' }, 'HEAD')]
      const headersOf = ({ headers }: Response) =>
        Object.fromEntries([...headers].filter(([key]) => !OF_CONNECTION.has(key)))
      expect([head.response.status, head.bytes.length]).toEqual([200, 0])
      expect(headersOf(head.response)).toEqual(headersOf(get.response))
    })
  })
})
