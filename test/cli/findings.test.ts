import { expect, test } from 'vitest'
import { renderFinding, SYMBOLS, WORDS } from '../../src/cli/commands/doctor.ts'
import { showsSymbols } from '../../src/cli/terminal/cli-io.ts'

const finding = {
  check: 'watches',
  level: 'warning',
  message: '61,000 of 65,536 used, and the mirrors need 5,000: what is not watched is scanned instead',
  remedy: 'sudo sysctl fs.inotify.max_user_watches=524288',
} as const

test('a finding is one line without a terminal', () => {
  const line = renderFinding(finding, { marks: WORDS, nameWidth: 8, columns: undefined })
  expect(line).toBe(`warning watches   ${finding.message} → ${finding.remedy}`)
})

test('a finding wraps on a terminal, its remedy whole', () => {
  expect(renderFinding(finding, { marks: SYMBOLS, nameWidth: 8, columns: 60 })).toBe(
    [
      '! watches   61,000 of 65,536 used, and the mirrors need',
      '            5,000: what is not watched is scanned instead',
      '            → sudo sysctl fs.inotify.max_user_watches=524288',
    ].join('\n'),
  )
})

test('a finding cannot write to the terminal', () => {
  const line = renderFinding(
    { ...finding, message: 'a\u001b[2J\nb' },
    { marks: WORDS, nameWidth: 8, columns: undefined },
  )
  expect(line).toContain('a\\x1b[2J; b')
})

test('symbols are for terminals that show them', () => {
  const terminal = { stdin: true, stdout: true, stderr: true }
  const shows = (env: Record<string, string>, isTerminal = terminal) => showsSymbols({ isTerminal, env })
  expect(shows({ LANG: 'de_DE.UTF-8' })).toBe(true)
  expect(shows({ LANG: 'de_DE.UTF-8' }, { ...terminal, stdout: false })).toBe(false)
  expect(shows({ LANG: 'de_DE.UTF-8', TERM: 'linux' })).toBe(false)
  expect(shows({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' })).toBe(process.platform !== 'linux')
})
