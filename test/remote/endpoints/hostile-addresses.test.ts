/** Identifiers, paths and addresses from outside: none of them changes where a request goes, or what a page opens. */
import { expect, test } from 'vitest'
import type { ServiceClient } from '../../../src/remote/service-client.ts'
import { clientOf, collect, HELLO, serve, thrownBy, uploadOf } from '../support.ts'

const IDENTIFIERS = [
  ...['', '.', '..', '../x', 'a/../b', 'a/./b', '..\\x', 'a\\..'],
  ...['..%2F', '%2e%2e', '%2E%2e/x', '..%252Fx', '%25252e%25252E', '%25%32%65', '..%5cx'],
  ...['a\r\nX: y', 'a\n', '\0', 'a\u007f', '%0d%0aX: y', '%00', '\ud800', 'x'.repeat(513)],
]
const PATHS = ['', 'a', '/..', '/../x', '/a/../b', '/a/..', '/./a', '/a/.', '//a', '/a//b', '/a\0b', '/\udc00']

const BY_IDENTIFIER: Readonly<Record<string, (client: ServiceClient, id: string) => Promise<unknown>>> = {
  showLibrary: (client, id) => client.showLibrary(id),
  deleteLibrary: (client, id) => client.deleteLibrary(id),
  listDirectory: (client, id) => collect(client.listDirectory(id, '/')),
  createDirectory: (client, id) => client.createDirectory(id, '/a'),
  uploadFile: (client, id) => client.uploadFile(uploadOf(HELLO, { libraryId: id })),
  showResource: (client, id) => client.showResource('l1', id),
  pollResource: (client, id) => client.pollResource(id, 'r1'),
  searchResources: (client, id) => client.searchResources({ query: 'q', libraryIds: ['l1', id] }),
  downloadResource: (client, id) => client.downloadResource(id),
  createResourceViewUrl: (client, id) => client.createResourceViewUrl(id, {}),
  downloadAsset: (client, id) => client.downloadAsset(id),
  downloadRepresentation: (client, id) => client.downloadRepresentation(id, 'scene', 1),
  createAssetViewUrl: (client, id) => client.createAssetViewUrl(id, {}),
}

/** A service that answers everything by `answer`, and the requests that reached it. */
async function recorded(answer: (url: string) => unknown = () => ({})) {
  const asked: string[] = []
  const server = await serve((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => response.writeHead(200).end(JSON.stringify(answer(request.url ?? ''))))
  })
  const client = clientOf(server.origin, { retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 } })
  return { ...server, asked, client }
}

test.each(Object.keys(BY_IDENTIFIER))('%s takes no identifier that changes an address [S-24]', async (name) => {
  await using service = await recorded()
  for (const id of IDENTIFIERS) {
    const failure = await thrownBy(BY_IDENTIFIER[name]?.(service.client, id) ?? Promise.resolve())
    expect([id, failure]).toEqual([id, expect.objectContaining({ code: 'invalid' })])
  }
  expect(service.asked).toEqual([])
})

test('a library path with dots is neither listed nor created [S-24]', async () => {
  await using service = await recorded()
  for (const path of PATHS) {
    for (const ask of [
      () => collect(service.client.listDirectory('l1', path)),
      () => service.client.createDirectory('l1', path),
    ]) {
      expect([path, await thrownBy(ask())]).toEqual([path, expect.objectContaining({ code: 'invalid' })])
    }
  }
  expect(service.asked).toEqual([])
})

test('a path with dots is called by no raw request [S-24]', async () => {
  await using service = await recorded()
  for (const path of ['/v1/..', '/v1/../docs', '/v1/libraries/..%2F..', '/v1/%2e%2e/x', '/v1/a\r\nb', '/v1\\..\\x']) {
    const failure = await thrownBy(service.client.callRaw('GET', path, undefined))
    expect([path, failure]).toEqual([path, expect.objectContaining({ code: 'bad-usage' })])
  }
  expect(service.asked).toEqual([])
  await service.client.callRaw('GET', '/v1/search/resources?query=../%2e%2e', undefined)
  expect(service.asked).toEqual(['GET /api/v1/search/resources?query=../%2e%2e'])
})

test('an identifier that would change an address is no answer [S-24]', async () => {
  const FILE = { title: 't', slug: 's', filename: 'f', mime_type: 'text/plain', organization_locked: false }
  let id = ''
  await using service = await recorded((url) => {
    if (url.includes('/directory')) {
      return { folders: [], files: [{ id, ...FILE }], limit: 1, next_cursor: null, truncated: false }
    }
    return url.includes('/search') ? { notice: '', results: [{ resource: { id } }] } : { id, duplicate: true }
  })
  for (id of IDENTIFIERS) {
    for (const ask of [
      () => service.client.uploadFile(uploadOf(HELLO)),
      () => collect(service.client.listDirectory('l1', '/')),
      () => service.client.searchResources({ query: 'q' }),
    ]) {
      expect([id, String(await thrownBy(ask()))]).toEqual([id, expect.stringMatching(/does not match the interface/)])
    }
  }
})

const REFUSED_ADDRESSES = [
  ...['javascript:alert(1)', 'JavaScript:alert(1)', 'java\nscript:alert(1)', ' javascript:alert(1)'],
  ...['data:text/html,x', 'file:///etc/passwd', 'ftp://library.example.com/x', 'blob:x', ''],
  ...['http://', 'https://own.example/\u001b[31m', 'https://own.example/a b'],
]

test('a view URL of another scheme is no answer [S-24]', async () => {
  let url = ''
  await using service = await recorded(() => ({ url, expires_in_minutes: 5 }))
  for (url of REFUSED_ADDRESSES) {
    for (const ask of [
      () => service.client.createResourceViewUrl('r1', {}),
      () => service.client.createAssetViewUrl('a1', {}),
    ]) {
      expect([url, await thrownBy(ask())]).toEqual([url, expect.objectContaining({ code: 'answer-malformed' })])
    }
  }
})

test('a relative view URL is one of the service [S-24]', async () => {
  let url = ''
  await using service = await recorded(() => ({ url, expires_in_minutes: 5 }))
  for (const [given, shown] of [
    ['/api/v1/resources/r1?signature=a%2Fb', `${service.origin}/api/v1/resources/r1?signature=a%2Fb`],
    ['https://Cdn.example/x?a=%2f', 'https://Cdn.example/x?a=%2f'],
    ['//cdn.example/x', 'http://cdn.example/x'],
  ] as const) {
    url = given
    expect((await service.client.createResourceViewUrl('r1', {})).url).toBe(shown)
  }
})
