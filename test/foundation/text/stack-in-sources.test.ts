import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { stackInSources } from '../../../src/foundation/text/stack-in-sources.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Line 1, column 1 of the file is line 3, column 5 of `a.ts`. */
const MAP = JSON.stringify({ version: 3, sources: ['../src/a.ts'], names: [], mappings: 'AAEI' })

describe('the stack of an error', () => {
  test('a stack with source maps names the places in the sources', () => {
    const directory = writeTree(temporaryDirectory(), { 'dist/with space.js': '', 'dist/with space.js.map': MAP })
    const file = join(directory, 'dist', 'with space.js')
    const url = pathToFileURL(file)
    const shown = stackInSources(`Error: no\n    at run (${file}:1:1)\n    at ${url}:1:1\n    at async ${url}:1:1`)
    expect(shown).toMatch(
      /^Error: no\n {4}at run \(\S+\/src\/a\.ts:3:5\)\n {4}at \S+\/src\/a\.ts:3:5\n {4}at async \S+\/src\/a\.ts:3:5$/,
    )
  })

  test('a stack keeps the places that have no source map', () => {
    const stack = `Error: at (a.js:1:1)\n    at run (${temporaryDirectory()}/b.js:2:7)\n    at node:internal/x:1:2`
    expect(stackInSources(stack)).toBe(stack)
  })
})
