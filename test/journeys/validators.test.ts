/** A validator's own sentences ("expected number, received NaN") do not help a person: the program prints none of them. */
import { describe, expect, test } from 'vitest'
import { configJsonSchema } from '../../src/app/settings/schema.ts'
import { readSettingsWith } from '../app/settings/read-settings-with.ts'
import { expectExit, homeWithPapers } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

const VALIDATOR = /Invalid (input|option)|expected \w+, received|Too (small|big)|Unrecognized|NaN/

const WRONG = ['.nan', '.inf', '-1', '3', 'true', '""', 'x', '[]', '[3]', '[[]]', '{}', '{ x: 1 }', '{ path: [] }']

describe('validators', () => {
  test("no wrong configuration value prints a validator's own sentence", () => {
    const messages = leavesOf(JSON.parse(configJsonSchema())).flatMap((path) =>
      WRONG.flatMap((value) => problemOf(`${nested(path, value)}\n`)),
    )
    expect(messages.length).toBeGreaterThan(300)
    expect(messages.filter((problem) => VALIDATOR.test(problem.replace(/, not .*/, '')))).toEqual([])
  })

  test.each([
    [['search', 'tide', '--strategy', 'fast'], 'strategy: must be '],
    [['search', 'tide', '--strategy', ''], 'strategy: must be '],
  ])('the embedded library refuses %j in plain words', async (words, message) => {
    const home = homeWithPapers({ 'a.md': 'tide' })
    await home.shelfd(['sync', 'Papers'])
    const { exitCode, stdout, stderr } = await home.shelfd(words)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(VALIDATOR)
  })

  test('a malformed answer of a service is explained in plain words', async () => {
    const { service, home } = await homeOnService()
    service.rewrite = ({ route }, body) => (route === 'listLibraries' ? { ...body, items: [{ id: 3 }] } : body)
    const { stderr } = expectExit(
      await home.shelfd(['libraries', 'list']),
      5,
      'the answer does not match the interface: items.0.id must be a text',
    )
    expect(stderr).not.toMatch(VALIDATOR)
  })
})

function problemOf(yaml: string): string[] {
  try {
    readSettingsWith({ yaml })
    return []
  } catch (error) {
    return [String(error)]
  }
}

/** `limits: { transfers: VALUE }`; a number in the path is an entry of a list. */
function nested(path: readonly string[], value: string): string {
  return path.reduceRight((inner, key) => (key === '0' ? `[${inner}]` : `{ ${key}: ${inner} }`), value)
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

function leavesOf({ properties, items }: Schema, path: readonly string[] = []): string[][] {
  const inner = items ? [['0', items] as const] : Object.entries(properties ?? {})
  return [[...path], ...inner.flatMap(([key, schema]) => leavesOf(schema, [...path, key]))].slice(path.length ? 0 : 1)
}
