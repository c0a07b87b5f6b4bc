import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

const BUILD = join(PROJECT, '.ci', 'build.ts')
const PARTS = join(import.meta.dirname, 'program-parts.ts')

/** What the program finds beside its bundle when it is installed. */
const BESIDE = ['package.json', 'node_modules', 'config', 'docs', 'service']

/**
 * The program as it is published: the present source, bundled in the directory `home`, which is created, so that it is never an
 * old one. Returns its `main`.
 */
export async function compileProgram(home: string): Promise<string> {
  mkdirSync(home, { recursive: true })
  for (const name of BESIDE) symlinkSync(join(PROJECT, name), join(home, name))
  const dist = join(home, 'dist')
  await promisify(execFile)(process.execPath, [BUILD, dist, PARTS])
  return join(dist, 'main.js')
}
