import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedaction, REDACTED } from '../../../src/foundation/text/redaction.ts'

const CANARY = 'kl_Canary-9f/3"b+7&e=<1>~\\x'
const redact = createRedaction(CANARY)

/** How servers, proxies and loggers repeat what they were sent. */
const ECHOES: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  JSON: inJson,
  'JSON in JSON': (secret) => inJson(inJson(secret)),
  'JSON that escapes slashes': (secret) => inJson(secret).replaceAll('/', '\\/'),
  'JSON in code points': (secret) => each(secret, (code) => `\\u${hex(code, 4)}`),
  'JSON in capital code points': (secret) => each(secret, (code) => `\\u${hex(code, 4).toUpperCase()}`),
  'JSON with one code point': (secret) => `\\u${hex(secret.charCodeAt(0), 4)}${inJson(secret.slice(1))}`,
  'bytes of a log': (secret) => each(secret, (code) => `\\x${hex(code, 2)}`),
  'a query': encodeURIComponent,
  'a query, small': (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  'a query of a query': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'a query in whole': (secret) => each(secret, (code) => `%${hex(code, 2)}`),
  HTML: inHtml,
  'HTML of HTML': (secret) => inHtml(inHtml(secret)),
  'HTML in numbers': (secret) => each(secret, (code) => `&#${code};`),
  'HTML in hexadecimal': (secret) => each(secret, (code) => `&#x${hex(code, 2)};`),
  'Basic credentials': (secret) => base64(`ada:${secret}`),
  'Basic credentials in JSON': (secret) => base64(`me:${secret}`).replaceAll('/', '\\/'),
  'Bearer in base64': (secret) => base64(`Bearer ${secret}`),
  'base64 for addresses': (secret) => Buffer.from(`x${secret}`).toString('base64url'),
  hexadecimal: (secret) => Buffer.from(secret).toString('hex'),
}

describe('redaction', () => {
  test.each(Object.entries(ECHOES))('a secret is redacted when repeated as %s [S-04]', (_, echo) => {
    const echoed = `no: ${echo(CANARY)} is bad`
    const clean = redact(echoed)
    expect(clean).toContain(REDACTED)
    for (const other of Object.values(ECHOES)) expect(clean).not.toContain(other(CANARY).slice(4, -4))
    expect(clean).toMatch(/^no: .*is bad$/)
  })

  test('a secret is redacted in any mixture of escapes [S-04]', () => {
    const escapes = fc.constantFrom<(secret: string) => string>(
      ...['as it is', 'JSON', 'JSON in code points', 'a query', 'a query in whole', 'HTML', 'HTML in numbers'].flatMap(
        (name) => ECHOES[name] ?? [],
      ),
    )
    const secrets = fc.string({ minLength: 12, maxLength: 60, unit: fc.integer({ min: 0x21, max: 0x7e }).map(ofCode) })
    fc.assert(
      fc.property(secrets, fc.array(escapes, { minLength: 60, maxLength: 60 }), (secret, how) => {
        const mixed = [...secret].map((letter, index) => how[index]?.(letter) ?? letter).join('')
        expect(createRedaction(secret)(`<${mixed}>`)).toBe(`<${REDACTED}>`)
      }),
    )
  })

  test('text without the secret stays as it is', () => {
    const harmless = fc.string({ maxLength: 300 }).filter((text) => !text.includes(CANARY))
    fc.assert(
      fc.property(harmless, (text) => {
        expect(redact(text)).toBe(text)
      }),
    )
    expect(redact(CANARY.slice(0, -1))).toBe(CANARY.slice(0, -1))
  })

  test('JSON stays JSON when a secret in it is redacted', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const clean: unknown = JSON.parse(redact(JSON.stringify({ text: `${before}${CANARY}${after}` })))
        expect(JSON.stringify(clean)).not.toContain(inJson(CANARY))
      }),
    )
  })

  test('redaction does not backtrack over hostile text', () => {
    const secret = '\\%&\\\\%%25&amp;\\\\\\u005c'
    for (const mark of ['\\', '%25', '&amp;', '%', '&']) {
      expect(createRedaction(secret)(mark.repeat(20_000))).toBe(mark.repeat(20_000))
    }
  })

  test('an empty secret redacts nothing', () => {
    expect(createRedaction('')('abc')).toBe('abc')
  })
})

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function inHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#039;',
  }
  return text.replace(/[&<>"']/g, (mark) => names[mark] ?? mark)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function each(text: string, encode: (code: number) => string): string {
  return Array.from(text, (letter) => encode(letter.charCodeAt(0))).join('')
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}

function ofCode(code: number): string {
  return String.fromCharCode(code)
}
