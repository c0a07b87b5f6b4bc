/** Help is read in a terminal: no line of it is broken by the terminal itself. */
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { GLOBAL_ABILITIES } from '../../src/contract/records.ts'
import { createHome } from './run-with.ts'

const { shelfd } = createHome()

/** Examples are there to be copied: a long one stays whole. */
function linesOver(width: number, stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.length > width && !line.startsWith('  shelfd '))
}

describe('help', () => {
  test.each([
    ['a terminal of 70 columns', 70, { isTerminal: true, columns: 70 }],
    ['a terminal of 80 columns', 80, { isTerminal: true, columns: 80 }],
    ['100 columns without a terminal', 100, {}],
  ])('fits %s', async (_, width, options) => {
    for (const words of [[], ...commands.map(({ name }) => name.split(' '))]) {
      const { stdout } = await shelfd([...words, '--help'], options)
      expect({ words, over: linesOver(width, stdout) }).toEqual({ words, over: [] })
    }
  })

  test('goes on under the column of the text', async () => {
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

  test('puts the text below what is too long for it', async () => {
    const { stdout } = await shelfd('serve tokens create --help')
    expect(stdout).toMatch(
      /\n {2}shelfd serve tokens create laptop .* --access update\n {4,}may mirror into one library\n/,
    )
  })
})
