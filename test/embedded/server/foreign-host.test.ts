import { expect, test } from 'vitest'
import { OPENAPI_PATH } from '../../../src/contract/routes.ts'
import { startLibrary } from '../temporary-library.ts'
import { requestAs } from './request-as.ts'

const statusOf = async (url: string, headers: Readonly<Record<string, string>>) =>
  (await requestAs(url, headers)).statusCode

test('a page of a foreign name receives nothing on loopback [S-11, S-20]', async () => {
  const { library } = await startLibrary()
  for (const path of [OPENAPI_PATH, '/api/documentation', '/api/v1/auth/check', '/api/v1/libraries', '/nothing']) {
    expect([path, await statusOf(library.url + path, { host: 'rebound.example' })]).toEqual([path, 421])
    expect([path, await statusOf(library.url + path, { host: '127.0.0.1.rebound.example:80' })]).toEqual([path, 421])
    for (const host of ['localhost', '127.0.0.1:1', '[::1]:80']) {
      expect([path, await statusOf(library.url + path, { host })]).not.toEqual([path, 421])
    }
  }
})

test('a proxy may keep the name of its own request', async () => {
  const { library } = await startLibrary()
  const headers = { host: 'library.example', authorization: `Bearer ${library.token}` }
  expect(await statusOf(`${library.url}/api/v1/auth/check`, headers)).toBe(200)
  expect(await statusOf(`${library.url}/api/v1/auth/check`, { ...headers, authorization: 'Bearer guessed' })).toBe(401)
})
