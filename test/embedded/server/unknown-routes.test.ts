import { expect, test } from 'vitest'
import { API_PREFIX, OPENAPI_PATH, ROUTES } from '../../../src/contract/routes.ts'
import { readResponse } from '../../contract/service-client.ts'
import { startLibrary } from '../temporary-library.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The methods that each path of the interface takes, by path. */
const PATHS = Map.groupBy(Object.values(ROUTES), ({ path }) => path.replaceAll(/\{\w+\}/g, 'unknown'))

test('a method that a path lacks is answered with 405 and Allow', async () => {
  const { client } = await startLibrary()
  for (const [path, routes] of PATHS) {
    const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    for (const method of METHODS.filter((each) => !methods.includes(each))) {
      const headers = { 'content-type': 'text/strange' }
      const body = method === 'HEAD' || method === 'GET' ? null : 'x'
      const { status, headers: answered } = await client.send(path.replace('/v1', ''), { method, headers, body })
      const allow = answered.get('allow')?.split(', ').toSorted()
      expect([method, path, status, allow]).toEqual([method, path, 405, methods.toSorted()])
    }
  }
})

test('HEAD is answered as GET is, without a body', async () => {
  const { client, library } = await startLibrary()
  const id = await client.createLibrary()
  const headers = { authorization: `Bearer ${library.token}` }
  for (const path of ['/auth/check', '/libraries', `/libraries/${id}`, `/libraries/${id}/directory`, '/libraries/no']) {
    const get = await readResponse(await fetch(`${library.url}/api/v1${path}`, { headers }))
    const head = await readResponse(await fetch(`${library.url}/api/v1${path}`, { headers, method: 'HEAD' }))
    const shown = [head.status, head.text, head.headers.get('content-length')]
    expect([path, ...shown]).toEqual([path, get.status, '', get.headers.get('content-length')])
  }
  const description = await fetch(library.url + OPENAPI_PATH, { method: 'HEAD' })
  expect([description.status, await description.text()]).toEqual([200, ''])
})

test('any unknown identifier is answered with 404, however long', async () => {
  const { client, library } = await startLibrary()
  const headers = { authorization: `Bearer ${library.token}` }
  const known = await client.createLibrary()
  const paths = [
    ...['/v1/libraries/{id}', '/v1/libraries/{id}/directory', `/v1/libraries/${known}/resources/{id}`],
    ...['/v1/resources/{id}', '/v1/assets/{id}', '/v1/no/such/path/{id}'],
  ]
  for (const id of ['x', 'x'.repeat(513), 'x'.repeat(50_000), '%zz', '%00', '%F0%9F%8E%89', '..%2f', "' OR 1=1 --"]) {
    for (const path of paths) {
      const url = library.url + API_PREFIX + path.replace('{id}', id)
      const { status, json } = await readResponse(await fetch(url, { headers }))
      expect([path, id.slice(0, 20), status, json]).toEqual([
        path,
        id.slice(0, 20),
        404,
        { message: expect.any(String) },
      ])
    }
  }
})
