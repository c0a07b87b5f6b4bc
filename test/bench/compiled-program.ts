import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess } from './run-process.ts'
import type { Workspace } from './workspace.ts'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

const BUILD = join(PROJECT, '.ci', 'build.ts')

/** The program as it is published: the present source, bundled in a directory of its own, so that it is never an old one. */
export async function compileProgram(workspace: Workspace): Promise<string> {
  const home = workspace.fresh('program')
  const dist = join(home, 'dist')
  mkdirSync(home, { recursive: true })
  cpSync(join(PROJECT, 'package.json'), join(home, 'package.json'))
  symlinkSync(join(PROJECT, 'node_modules'), join(home, 'node_modules'))
  await runProcess([process.execPath, BUILD, dist])
  return join(dist, 'main.js')
}
