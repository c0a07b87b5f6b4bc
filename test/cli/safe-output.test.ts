import { Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createContext } from '../../src/cli/context.ts'
import { renderFields, renderTable } from '../../src/cli/render/layout.ts'
import { describeProgress } from '../../src/cli/render/progress-line.ts'
import { reportError } from '../../src/cli/run-cli.ts'
import type { CliIo } from '../../src/cli/terminal/cli-io.ts'
import { askLine } from '../../src/cli/terminal/prompts.ts'
import { UsageError } from '../../src/foundation/errors.ts'
import {
  escapeJson,
  escapeLines,
  escapeText,
  terminalSafeJson,
  truncateText,
} from '../../src/foundation/text/safe-text.ts'
import { createProgress } from '../../src/sync/progress.ts'
import { readSettingsWith } from '../app/settings/read-settings-with.ts'
import { DANGEROUS, HOSTILE_MARKS, hostileText } from '../support/hostile-text.ts'

/** The control sequences that redraw a line and colour text; shelfd itself writes them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const OWN_MARKS = /\r\u001b\[2K|\u001b\[\?7[lh]|\u001b\[(?:[12]|22|3[1236]|39)m/g

describe('text from outside', () => {
  test.each(HOSTILE_MARKS.map((mark) => [mark]))('a hostile mark is escaped: %j [S-08]', (mark) => {
    expect(escapeText(`a${mark}b`)).toMatch(/^a[ -~]+b$/)
    expect(escapeJson(JSON.stringify(mark))).toMatch(/^"[ -~]+"$/)
  })

  test('text from outside is escaped once, and only where needed', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const escaped = escapeText(text)
        expect(escaped).not.toMatch(DANGEROUS)
        expect(escaped).not.toContain('\n')
        expect(escapeText(escaped)).toBe(escaped)
        expect(escapeLines(text).replaceAll('\t', ' ')).not.toMatch(DANGEROUS)
      }),
    )
    expect(escapeText('Überblick 名前 ❤️ 🙂 עברית')).toBe('Überblick 名前 ❤️ 🙂 עברית')
  })

  test('escaped JSON parses to the same text [S-19]', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const json = terminalSafeJson({ [text]: text })
        expect(json).not.toMatch(DANGEROUS)
        expect(JSON.parse(json)).toEqual({ [text]: text })
      }),
    )
  })

  test('cut text has no halved character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '🙂', '名') }),
        fc.integer({ min: 1, max: 20 }),
        (text, length) => {
          expect(truncateText(text, length)).not.toMatch(DANGEROUS)
        },
      ),
    )
  })
})

describe('printed output', () => {
  test.each(['text', 'json'] as const)('output has nothing that a terminal obeys (%s) [S-08, S-19]', async (format) => {
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        const { io, written } = collectingIo(format)
        const context = createContext(io, FLAGS, () => readSettingsWith({ env: { SHELFD_LOG_FORMAT: format } }))
        context.print(text)
        for (const style of ['line', 'heading', 'excerpt'] as const) context.printText(text, style)
        context.printJson({ [text]: [text] })
        context.printTable(['name', 'path'], [[text, text]])
        context.printMessage(text)
        context.announce(text, { path: text })
        for (const level of ['debug', 'info', 'warn', 'error'] as const) context.logger[level](text, { [text]: text })
        context.messages.draw(text)
        context.messages.write(`${text}\n`)
        context.messages.clear()
        await askLine(context, text)
        const shown = {
          io,
          commandName: text,
          withStack: true,
          logFormat: format,
          color: 'always' as const,
          redact: (line: string) => line,
        }
        await reportError(new UsageError('bad-usage', text, { cause: new Error(text) }), shown)
        expect(written().replaceAll(OWN_MARKS, '').replaceAll('\t', ' ')).not.toMatch(DANGEROUS)
      }),
    )
  })

  test('tables, fields and progress keep their lines, whatever the text [S-19]', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(renderTable(['name', 'path'], [[text, text]]).split('\n')).toHaveLength(2)
        expect(renderFields({ a: text, b: text }).split('\n')).toHaveLength(2)
        const uploads = [{ path: text, sizeBytes: 1, bytesSent: 0 }]
        const progress = { ...createProgress(), mirror: text, phase: 'uploading' as const, uploads }
        expect(
          describeProgress(progress, { elapsedMs: 1, sentPerSecond: 1, hashedPerSecond: 1, beginning: '' }, 200),
        ).not.toContain('\n')
      }),
    )
  })
})

const FLAGS = { config: undefined, json: false, quiet: false, verbosity: 2, color: 'always', settingFlags: {} } as const

function collectingIo(format: string): { io: CliIo; written(): string } {
  let all = ''
  const stream = () =>
    new Writable({
      decodeStrings: false,
      write: (chunk: string, _, done) => {
        all += chunk
        done()
      },
    })
  const io: CliIo = {
    stdin: (async function* () {})(),
    stdout: stream(),
    stderr: stream(),
    isTerminal: { stdin: false, stdout: true, stderr: true },
    env: { SHELFD_LOG_FORMAT: format },
    cwd: '/',
    uid: undefined,
    home: '/',
    signal: new AbortController().signal,
  }
  return { io, written: () => all }
}
