import { expect, test } from 'vitest'
import { createHome } from './run-with.ts'

const LONG = 'a-token-whose-name-is-very-long-since-somebody-wanted-to-be-quite-sure-what-it-is-for'

async function tokens() {
  const { shelfd } = createHome()
  await shelfd('libraries list')
  const rights = ['read', 'resource.create', 'update'].flatMap((right) => ['--access', right])
  expect(await shelfd(['serve', 'tokens', 'create', LONG, ...rights])).toMatchObject({ exitCode: 0 })
  return shelfd
}

test.each([[60], [80], [100]])('a table fits a terminal of %i columns', async (columns) => {
  const shelfd = await tokens()
  const { stdout } = await shelfd('serve tokens list', { isTerminal: true, columns })
  const lines = stdout.trimEnd().split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  expect(lines[0]).toMatch(/^NAME +STATE +CREATED +RIGHTS$/)
  expect(stdout).toContain('…')
  expect(stdout).toContain('valid')
})

test('a table is not cut without a terminal', async () => {
  const shelfd = await tokens()
  const { stdout } = await shelfd('serve tokens list', { columns: 60 })
  expect(stdout).toContain(LONG)
  expect(stdout).not.toContain('…')
})

test('a table keeps identifiers whole', async () => {
  const { shelfd } = createHome()
  await shelfd(['libraries', 'create', 'A library with quite a long name, as they come'])
  const { stdout } = await shelfd('libraries list', { isTerminal: true, columns: 50 })
  expect(stdout).toMatch(/^[0-9a-f]{32} {2}/m)
  expect(
    Math.max(
      ...stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(50)
})

test('a token without rights is refused with the way out', async () => {
  const { shelfd } = createHome()
  await shelfd('libraries list')
  const { exitCode, stdout, stderr } = await shelfd('serve tokens create laptop')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/without rights.*--access read.*--ability/s)
  expect((await shelfd('serve tokens list')).stdout).not.toContain('laptop')
})
