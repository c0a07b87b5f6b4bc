import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from '../../src/app/create-logger.ts'
import type { LogLevel } from '../../src/foundation/logger.ts'
import { createRedactor } from '../../src/foundation/text/redaction.ts'

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

function logTo(options: Partial<LoggerOptions>, secret = '') {
  const lines: string[] = []
  const redactor = createRedactor()
  redactor.add(secret)
  const write = (line: string) => {
    lines.push(line)
  }
  const logger = createLogger({
    format: 'text',
    level: 'debug',
    withTime: false,
    write,
    redact: redactor.redact,
    ...options,
  })
  return { logger, lines }
}

describe('text logs', () => {
  test('a text line holds level, message and fields, escaped', () => {
    const { logger, lines } = logTo({})
    logger.info('Sent a file', { path: 'a b.md', bytes: 12, id: 'r_1', absent: undefined, why: new Error('x\ny') })
    logger.warn('Bad\u001b[2Jname', { path: 'a\nb', list: [1, 2] })
    expect(lines).toMatchInlineSnapshot(`
      [
        "info  Sent a file path="a b.md" bytes=12 id=r_1 why="x\\ny"
      ",
        "warn  Bad\\x1b[2Jname path="a\\nb" list=[1,2]
      ",
      ]
    `)
  })

  test('text lines have times unless the journal adds them', () => {
    const { logger, lines } = logTo({ withTime: true })
    logger.info('x')
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d info {2}x\n$/)
  })
})

test('JSON lines have time, level as a word and msg', () => {
  const { logger, lines } = logTo({ format: 'json' })
  logger.warn('Slow', { path: 'a', error: new Error('why') })
  const { time, ...rest } = JSON.parse(lines[0] ?? '')
  expect(rest).toEqual({ level: 'warn', msg: 'Slow', path: 'a', error: 'why' })
  expect(time).toMatch(/^\d{4}-.*Z$/)
})

test.each(['text', 'json'] as const)('a logger of %s writes nothing below its level', (format) => {
  for (const [index, level] of LEVELS.entries()) {
    const { logger, lines } = logTo({ format, level })
    for (const each of LEVELS) logger[each]('x')
    expect(lines).toHaveLength(LEVELS.length - index)
  }
})

test('a secret appears nowhere in a log, in any form, at any level [S-04]', () => {
  const secrets = fc
    .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
    .filter((text) => /\w{4}/.test(text))
  const places = fc.constantFrom('message', 'field', 'nested', 'error', 'url')
  fc.assert(
    fc.property(
      secrets,
      places,
      fc.constantFrom(...LEVELS),
      fc.constantFrom('text', 'json'),
      (secret, place, level, format) => {
        const { logger, lines } = logTo({ format }, secret)
        const values = {
          message: '',
          field: secret,
          nested: { a: [secret] },
          error: new Error(secret),
          url: `/?t=${encodeURIComponent(secret)}`,
        }
        logger[level](place === 'message' ? `before ${secret} after` : 'x', { it: values[place] })
        expect(lines.join('')).not.toContain(secret)
        expect(lines.join('')).not.toContain(encodeURIComponent(secret))
        expect(lines.join('')).toContain('[secret]')
      },
    ),
    { numRuns: 200 },
  )
})
