import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/foundation/errors.ts'
import { parseOrigin, parseToken } from '../../src/remote/client-options.ts'

describe('parseOrigin', () => {
  it.each([
    ['https://library.example.com', 'https://library.example.com'],
    ['https://library.example.com/', 'https://library.example.com'],
    ['https://Library.Example.com:8443', 'https://library.example.com:8443'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://127.9.9.9', 'http://127.9.9.9'],
    ['http://[::1]:81', 'http://[::1]:81'],
    ['http://localhost:3000', 'http://localhost:3000'],
  ])('an origin is accepted: %s', (text, origin) => expect(parseOrigin(text)).toBe(origin))

  it.each([
    'http://library.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'https://library.example.com/api',
    'https://library.example.com/?a=1',
    'https://library.example.com/?',
    'https://library.example.com/#x',
    'https://user:secret@library.example.com',
    'ftp://library.example.com',
    'library.example.com',
    '',
  ])('an unsafe origin is refused: %s [S-01]', (text) => {
    expect(() => parseOrigin(text)).toThrow(UsageError)
    expect(() => parseOrigin(text)).not.toThrow(/secret/)
  })
})

it.each(['', ' ', 'a b', 'secret\r\nX-Evil: 1', 'sécret'])('a token that no header can carry is refused', (token) => {
  expect(() => parseToken(token)).toThrow(UsageError)
  expect(() => parseToken(token)).not.toThrow(/s.?cret/)
})
