import { expect, test } from 'vitest'
import { OPENAPI_PATH } from '../../../src/contract/routes.ts'
import { startLibrary } from '../temporary-library.ts'
import { requestAs } from './request-as.ts'

const publicUrl = 'https://library.example'

test('absolute URLs carry the public URL', async () => {
  const { client } = await startLibrary({ publicUrl })
  const created = await client.call('POST', '/libraries', { name: 'a' })
  expect(created.headers.get('location')).toBe(`${publicUrl}/api/v1/libraries/${created.json.id}`)
  const id = await client.uploaded(String(created.json.id), { name: 'a', content: 'a' })
  const { json } = await client.call('POST', `/resources/${id}/view-urls`)
  expect(String(json.url)).toMatch(`${publicUrl}/api/v1/resources/${id}?`)
})

test('a signed URL works under the public name', async () => {
  const { client, library } = await startLibrary({ publicUrl })
  const id = await client.uploaded(await client.createLibrary(), { name: 'a', content: 'a' })
  const { pathname, search, host } = new URL(String((await client.call('POST', `/resources/${id}/view-urls`)).json.url))
  expect((await requestAs(library.url + pathname + search, { host })).statusCode).toBe(200)
})

test('only the public name and names of this machine are answered', async () => {
  const { library } = await startLibrary({ publicUrl })
  const authorization = `Bearer ${library.token}`
  const statusOf = async (path: string, host: string) =>
    (await requestAs(library.url + path, { host, authorization })).statusCode
  for (const path of [OPENAPI_PATH, '/api/v1/auth/check']) {
    for (const host of ['library.example', 'LIBRARY.example:443', 'localhost', '127.0.0.1:8800', '[::1]']) {
      expect([path, host, await statusOf(path, host)]).toEqual([path, host, 200])
    }
    for (const host of ['library.example:444', 'other.example', 'library.example.other', 'user@library.example', '/']) {
      expect([path, host, await statusOf(path, host)]).toEqual([path, host, 421])
    }
  }
})
