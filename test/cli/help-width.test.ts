/** Help wraps its own lines, so that the terminal breaks none of them. */
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { GLOBAL_ABILITIES } from '../../src/contract/records.ts'
import { createHome } from './run-with.ts'

const { shelfd } = createHome()

/** A long example stays whole, because people copy examples. */
function linesOver(width: number, stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.length > width && !line.startsWith('  shelfd '))
}

test.each([
  ['a terminal of 70 columns', 70, { isTerminal: true, columns: 70 }],
  ['a terminal of 80 columns', 80, { isTerminal: true, columns: 80 }],
  ['100 columns without a terminal', 100, {}],
])('help fits %s', async (_, width, options) => {
  for (const words of [[], ...commands.map(({ name }) => name.split(' '))]) {
    const { stdout } = await shelfd([...words, '--help'], options)
    expect({ words, over: linesOver(width, stdout) }).toEqual({ words, over: [] })
  }
})

test('help continues a wrapped text under its column', async () => {
  const { stdout } = await shelfd('serve tokens create --help', { isTerminal: true, columns: 70 })
  const lines = stdout.split('\n')
  const first = lines.findIndex((line) => line.startsWith('      --ability '))
  const column = lines[first]?.indexOf('A global ability') ?? -1
  expect(lines[first + 1]).toMatch(new RegExp(`^ {${column}}\\S`))
  const words = lines
    .slice(first)
    .join(' ')
    .split(/[\s,;.]+(?=\s)/)
  for (const ability of GLOBAL_ABILITIES) expect(words.join(' ')).toContain(ability)
})

test('help puts the text below an example that is too long', async () => {
  const { stdout } = await shelfd('serve tokens create --help')
  expect(stdout).toMatch(
    /\n {2}shelfd serve tokens create laptop .* --access update\n {4,}may mirror into one library for 90 days\n/,
  )
})
