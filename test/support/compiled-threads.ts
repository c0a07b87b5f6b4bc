/** Runs with each file of tests: threads and child processes that it starts load in a tenth of the time from the bundle. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { vi } from 'vitest'
import { PROJECT } from './compiled-program.ts'
import { PROGRAM_VARIABLE } from './run-shelfd.ts'

const SOURCE = pathToFileURL(join(PROJECT, 'src', '/')).href
const MAIN = process.env[PROGRAM_VARIABLE]

vi.mock('../../src/foundation/concurrency/thread-entry.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  threadEntry: (name: string, importer: string) =>
    new URL(`${name}.js`, importer.replace(SOURCE, new URL('.', pathToFileURL(MAIN ?? '')).href)),
}))
