import { expect, test } from 'vitest'
import { OPENAPI_PATH } from '../../../src/contract/routes.ts'
import { startLibrary } from '../temporary-library.ts'

/** The addresses that a page or a style sheet loads, as written there. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/(?:src|href)="([^"]+)"|url\(([^)]+)\)/g)].map(([, name = '', other = '']) => name || other)
}

test('the reference loads everything from this server', async () => {
  const { library } = await startLibrary()
  for (const address of [library.documentationUrl, `${library.documentationUrl}/`]) {
    const page = await fetch(address)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const names = namesIn(await page.text())
    expect(names.filter((name) => /\.(js|css)$/.test(name)).length).toBeGreaterThanOrEqual(4)
    for (const name of names) {
      const file = new URL(name, address)
      expect([name, file.origin]).toEqual([name, new URL(library.url).origin])
      const { status } = await fetch(file)
      expect([name, status]).toEqual([name, 200])
    }
  }
})

test('the reference may run no other script and contact no other server', async () => {
  const { library } = await startLibrary()
  const { headers } = await fetch(library.documentationUrl)
  const policy = Object.fromEntries(
    (headers.get('content-security-policy') ?? '')
      .split(';')
      .map((part) => part.trim().split(/ (.*)/s, 2))
      .filter(([name]) => name),
  )
  expect(policy).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

test('the reference shows the description of this instance', async () => {
  const { library } = await startLibrary()
  const described = await (await fetch(library.url + OPENAPI_PATH)).json()
  expect(await (await fetch(`${library.documentationUrl}/json`)).json()).toEqual(described)
  const starter = await (await fetch(`${library.documentationUrl}/static/swagger-initializer.js`)).text()
  expect(starter).toContain('"validatorUrl":null')
})

test('the reference has no other files', async () => {
  const { library } = await startLibrary()
  for (const name of ['static/none.js', 'static/..%2f..%2fpackage.json', 'static/%2e%2e/package.json', 'none']) {
    const answer = await fetch(`${library.documentationUrl}/${name}`)
    expect([name, answer.status, await answer.json()]).toEqual([name, 404, { message: expect.any(String) }])
  }
  expect((await fetch(`${library.documentationUrl}/json`, { method: 'POST' })).status).toBe(405)
})
