import { describe, expect, test } from 'vitest'
import { paletteOf } from '../../src/cli/terminal/palette.ts'
import { createHome } from './run-with.ts'

const TERMINAL = { stdin: true, stdout: true, stderr: true }
const PIPE = { stdin: false, stdout: false, stderr: false }

describe('when colours are used', () => {
  test.each([
    { choice: 'auto', env: {}, isTerminal: TERMINAL, colors: true },
    { choice: 'auto', env: {}, isTerminal: PIPE, colors: false },
    { choice: 'auto', env: {}, isTerminal: { ...TERMINAL, stdout: false }, colors: false },
    { choice: 'auto', env: { TERM: 'dumb' }, isTerminal: TERMINAL, colors: false },
    { choice: 'auto', env: { NO_COLOR: '1' }, isTerminal: TERMINAL, colors: false },
    { choice: 'auto', env: { NO_COLOR: '' }, isTerminal: TERMINAL, colors: true },
    { choice: 'auto', env: { FORCE_COLOR: '1' }, isTerminal: PIPE, colors: true },
    { choice: 'auto', env: { FORCE_COLOR: '0' }, isTerminal: TERMINAL, colors: false },
    { choice: 'auto', env: { NO_COLOR: '1', FORCE_COLOR: '1' }, isTerminal: TERMINAL, colors: false },
    { choice: 'always', env: { NO_COLOR: '1', TERM: 'dumb' }, isTerminal: PIPE, colors: true },
    { choice: 'never', env: { FORCE_COLOR: '1' }, isTerminal: TERMINAL, colors: false },
  ] as const)('stdout has colours: $colors, for --color $choice, $env, $isTerminal.stdout', (row) => {
    const palette = paletteOf('stdout', row, row.choice)
    expect(palette.heading('Papers') === 'Papers').toBe(!row.colors)
  })
})

describe('what is coloured', () => {
  const { line, excerpt, progress } = paletteOf('stdout', { isTerminal: PIPE, env: {} }, 'always')

  test('each sign at the beginning of a line has its colour', () => {
    expect(line('  ! 2 not sent\n  ✓ up to date\n✗ daemon  not running')).toBe(
      '  \u001b[33m!\u001b[39m 2 not sent\n  \u001b[32m✓\u001b[39m up to date\n\u001b[31m✗\u001b[39m daemon  not running',
    )
  })

  test('a sign within a line or without a blank after it stays plain', () => {
    for (const text of ['Papers → Research:/Papers', '--flag', '!important', 'a ! b', 'errors 3']) {
      expect(line(text)).toBe(text)
    }
  })

  test('the level of a log line has its colour', () => {
    expect(line('10:02:03 warn  the mirror is halted')).toContain('\u001b[33mwarn\u001b[39m  the mirror is halted')
    expect(line('shelfd: Cannot read')).toBe('\u001b[31mshelfd:\u001b[39m Cannot read')
  })

  test('found words of an excerpt are bold instead of between stars', () => {
    expect(excerpt('the **spring** tide, 2 ** 3')).toBe('the \u001b[1mspring\u001b[22m tide, 2 ** 3')
  })

  test('the done part of a bar has a colour', () => {
    expect(progress('Papers  ━━╸──  2 of 4')).toBe('Papers  \u001b[32m━━╸\u001b[39m\u001b[2m──\u001b[22m  2 of 4')
  })
})

describe('the flag --color', () => {
  test('JSON stays plain and text gets colours with --color always', async () => {
    const { shelfd } = createHome()
    const text = await shelfd('status --color always')
    const json = await shelfd('status --color always --json')
    expect(text.stdout).toContain('\u001b[1m')
    expect(json.stdout).not.toContain('\u001b')
  })

  test('an error has a colour on a terminal and none with NO_COLOR', async () => {
    const { shelfd } = createHome()
    const colored = await shelfd('sync', { isTerminal: true, env: { NO_COLOR: '' } })
    const plain = await shelfd('sync', { isTerminal: true })
    expect(colored.stderr).toContain('\u001b[31mshelfd:\u001b[39m')
    expect(plain.stderr).not.toContain('\u001b')
    expect(colored.exitCode).toBe(2)
  })

  test('a value that is no choice is refused before anything is done', async () => {
    const { shelfd } = createHome()
    const { exitCode, stderr } = await shelfd('status --color sometimes')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('auto')
  })
})
