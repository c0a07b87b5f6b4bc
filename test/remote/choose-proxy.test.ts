import { describe, expect, it } from 'vitest'
import { chooseProxy } from '../../src/remote/choose-proxy.ts'

const ORIGIN = 'https://library.example.com'
const PROXY = 'http://proxy:3128'

function chosen(env: Record<string, string>, origin = ORIGIN): string | undefined {
  return chooseProxy(origin, env)?.address
}

describe('the proxy', () => {
  it.each([
    [{ HTTPS_PROXY: 'a' }, 'a'],
    [{ https_proxy: 'a', HTTPS_PROXY: 'b' }, 'a'],
    [{ https_proxy: '', HTTPS_PROXY: 'b' }, 'b'],
    [{ ALL_PROXY: 'a' }, 'a'],
    [{ all_proxy: 'a', ALL_PROXY: 'b' }, 'a'],
    [{ HTTPS_PROXY: 'a', all_proxy: 'b' }, 'a'],
    [{ HTTP_PROXY: 'a', http_proxy: 'a' }, undefined],
    [{ HTTPS_PROXY: ' ' }, undefined],
  ])('the proxy is the one that curl would take: %o', (env, expected) => {
    expect(chosen(env)).toBe(expected)
  })

  it.each(['https://localhost:8443', 'https://127.0.0.1', 'https://[::1]:1', 'http://127.0.0.1:80'])(
    'a service on this computer has no proxy: %s',
    (origin) => {
      expect(chosen({ HTTPS_PROXY: PROXY, ALL_PROXY: PROXY, HTTP_PROXY: PROXY }, origin)).toBeUndefined()
    },
  )
})

it.each([
  ['*', ORIGIN],
  ['library.example.com', ORIGIN],
  ['LIBRARY.example.com.', ORIGIN],
  ['example.com', ORIGIN],
  ['.example.com', ORIGIN],
  ['*.example.com', ORIGIN],
  ['.example.com', 'https://example.com'],
  ['other.org, example.com', ORIGIN],
  ['other.org example.com', ORIGIN],
  ['example.com:443', ORIGIN],
  ['example.com:8443', `${ORIGIN}:8443`],
  ['10.1.2.3', 'https://10.1.2.3'],
  ['10.0.0.0/8', 'https://10.1.2.3'],
  ['[2001:db8::1]', 'https://[2001:db8::1]'],
  ['2001:db8::1', 'https://[2001:db8::1]'],
  ['2001:DB8:0::0001', 'https://[2001:db8::1]'],
  ['2001:db8:1:2:3:4:5:6', 'https://[2001:db8:1:2:3:4:5:6]'],
  ['2001:db8:1:2:3:4:5:0006', 'https://[2001:db8:1:2:3:4:5:6]'],
  ['fe80::1:5', 'https://[fe80::1:5]'],
  ['[fd00::1]:8443', 'https://[fd00::1]:8443'],
  ['fd00::/8', 'https://[fd12:3456::1]'],
  ['::/0', 'https://[2001:db8::1]'],
])('NO_PROXY leaves out what it names: %s', (exceptions, origin) => {
  expect(chosen({ HTTPS_PROXY: PROXY, NO_PROXY: exceptions }, origin)).toBeUndefined()
})

it.each([
  ['', ORIGIN],
  ['ample.com', ORIGIN],
  ['example.com.evil.org', ORIGIN],
  ['brary.example.com', ORIGIN],
  ['example.com:8443', ORIGIN],
  ['.', ORIGIN],
  ['10.0.0.0/16', 'https://10.1.2.3'],
  ['2.3', 'https://10.1.2.3'],
  ['10.0.0.0/99', 'https://10.1.2.3'],
  ['2001:db8::2', 'https://[2001:db8::1]'],
  ['[fd00::1]:8443', 'https://[fd00::1]'],
  ['fd00::/8', 'https://[fe00::1]'],
  ['fd00::/129', 'https://[fd00::1]'],
  ['::/0', 'https://10.1.2.3'],
  ['0.0.0.0/0', 'https://[2001:db8::1]'],
  ['fd00::/x', 'https://[fd00::1]'],
  ['fd00::1::2', 'https://[fd00::1]'],
])('NO_PROXY leaves nothing else out: %s', (exceptions, origin) => {
  expect(chosen({ HTTPS_PROXY: PROXY, NO_PROXY: exceptions }, origin)).toBe(PROXY)
})

it('no_proxy in small letters comes before NO_PROXY', () => {
  expect(chosen({ HTTPS_PROXY: PROXY, no_proxy: 'other.org', NO_PROXY: '*' })).toBe(PROXY)
})
