import { once } from 'node:events'
import { expect, test } from 'vitest'
import { temporaryHome } from '../../support/home.ts'
import { SOURCE_MAIN } from '../../support/run-shelfd.ts'
import { startLibrary } from '../temporary-library.ts'

const AS_BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

const GUARDS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The addresses that an HTML file loads. */
function namesIn(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(\/web\/[^"]+)"/g)].map(([, name = '']) => name)
}

test('a browser gets the page, a program still gets the error', async () => {
  const { library } = await startLibrary()
  const page = await fetch(library.url, { headers: AS_BROWSER })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers.get('vary')).toBe('accept')
  for (const accept of ['*/*', 'application/json', '']) {
    const answer = await fetch(library.url, { headers: { accept } })
    expect([answer.status, await answer.json()]).toEqual([404, { message: 'There is no GET /' }])
  }
  const posted = await fetch(library.url, { method: 'POST', headers: AS_BROWSER })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('the page may run only its own script and contact only its server [S-22]', async () => {
  const { library } = await startLibrary()
  const { headers } = await fetch(library.url, { headers: AS_BROWSER })
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "media-src 'self'"],
    ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    "require-trusted-types-for 'script'",
  ])
  for (const [name, value] of Object.entries(GUARDS)) expect([name, headers.get(name)]).toEqual([name, value])
})

test('the page loads little, all of it from this server [S-22]', async () => {
  const { library } = await startLibrary()
  const html = await (await fetch(library.url, { headers: AS_BROWSER })).text()
  const names = namesIn(html)
  expect(names.map((name) => name.replace(/.*\./, '')).sort()).toEqual(['css', 'js', 'svg'])
  expect(html).not.toMatch(/<script>|<style|https?:|\son\w+=|\sstyle=/)
  let sizeBytes = html.length
  for (const name of names) {
    const file = await fetch(library.url + name)
    expect([name, file.status, file.headers.get('cache-control')]).toEqual([
      name,
      200,
      'public, max-age=31536000, immutable',
    ])
    for (const [guard, value] of Object.entries(GUARDS))
      expect([guard, file.headers.get(guard)]).toEqual([guard, value])
    sizeBytes += (await file.arrayBuffer()).byteLength
  }
  expect(sizeBytes).toBeLessThan(150_000)
})

test('a browser that has the page does not load it again', async () => {
  const { library } = await startLibrary()
  const first = await fetch(library.url, { headers: AS_BROWSER })
  const html = await first.text()
  expect(first.headers.get('cache-control')).toBe('no-cache')
  for (const path of ['/', ...namesIn(html)]) {
    const entityTag = (await fetch(library.url + path, { headers: AS_BROWSER })).headers.get('etag') ?? ''
    const again = await fetch(library.url + path, { headers: { ...AS_BROWSER, 'if-none-match': entityTag } })
    expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
    const head = await fetch(library.url + path, { method: 'HEAD', headers: AS_BROWSER })
    expect([path, head.status, await head.text()]).toEqual([path, 200, ''])
  }
})

test('the page has no other files', async () => {
  const { library } = await startLibrary()
  for (const name of ['none.js', 'library.html', '..%2fpackage.json', '%2e%2e/package.json', 'constructor', '']) {
    const answer = await fetch(`${library.url}/web/${name}`, { headers: AS_BROWSER })
    expect([name, answer.status, await answer.json()]).toEqual([name, 404, { message: expect.any(String) }])
  }
})

test('the page carries the licence of the software in it', async () => {
  const { library } = await startLibrary()
  const html = await (await fetch(library.url, { headers: AS_BROWSER })).text()
  const script = namesIn(html).find((name) => name.endsWith('.js'))
  const text = await (await fetch(library.url + script)).text()
  const [banner = ''] = text.split('*/', 1)
  for (const words of ['/*!', 'preact', 'The MIT License', 'Copyright (c)']) expect(banner).toContain(words)
})

test('a checkout without the bundler says how to get the page', async () => {
  const home = temporaryHome()
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (name === 'rolldown') throw Object.assign(new Error('Cannot find rolldown'), { code: 'ERR_MODULE_NOT_FOUND' })
      return next(name, context)
    } })`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` }
  const server = home.start(['serve', '--port', '0', '--json'], { env, main: SOURCE_MAIN })
  const [line] = await once(server.child.stdout?.setEncoding('utf8') ?? server.child, 'data')
  const page = await fetch(JSON.parse(line).url, { headers: AS_BROWSER })
  expect([page.status, await page.json()]).toEqual([503, { message: expect.stringContaining('run "npm ci"') }])
})
