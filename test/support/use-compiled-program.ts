import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileProgram } from './compiled-program.ts'
import { PROGRAM_VARIABLE } from './run-shelfd.ts'

/** Runs once before all tests: processes of the program run what is published, which starts in a third of the time. */
export default async function setup(): Promise<() => void> {
  if (process.env[PROGRAM_VARIABLE]) return () => {}
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-program-')))
  process.env[PROGRAM_VARIABLE] = await compileProgram(join(directory, 'program'))
  return () => rmSync(directory, { recursive: true, force: true })
}
