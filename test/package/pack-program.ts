import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { PROJECT } from '../support/compiled-program.ts'

const LONGEST_WAIT_MS = 100_000

/**
 * Packs the program as npm publishes it into `directory`; returns the path of the tarball. Packing builds `dist` of the checkout, so
 * only one test does it at a time: the others wait for a lock, which ends with its process.
 */
export function packProgram(directory: string): string {
  const lock = new Database(join(PROJECT, 'node_modules', '.packing.sqlite'), { timeout: LONGEST_WAIT_MS })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    npm(PROJECT, 'pack', '--pack-destination', directory)
  } finally {
    lock.close()
  }
  return join(directory, readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? '')
}

/** npm with the Node of the tests, without the variables of an enclosing npm. */
export function npm(cwd: string, ...argv: string[]): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
  const PATH = `${dirname(process.execPath)}${delimiter}${env.PATH}`
  execFileSync('npm', argv, { cwd, env: { ...env, PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
}
