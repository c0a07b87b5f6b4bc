import { cpSync, globSync, mkdirSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess } from './run-process.ts'
import type { Workspace } from './workspace.ts'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** The program as it is published: the present source, compiled in a directory of its own, so that it is never an old one. */
export async function compileProgram(workspace: Workspace): Promise<string> {
  const home = workspace.fresh('program')
  const dist = join(home, 'dist')
  mkdirSync(dist, { recursive: true })
  cpSync(join(PROJECT, 'package.json'), join(home, 'package.json'))
  symlinkSync(join(PROJECT, 'node_modules'), join(home, 'node_modules'))
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  await runProcess([process.execPath, tsc, '-p', join(PROJECT, 'tsconfig.build.json'), '--outDir', dist])
  const src = join(PROJECT, 'src')
  for (const file of globSync(join(src, '**', '*.sql'))) cpSync(file, join(dist, relative(src, file)))
  return join(dist, 'main.js')
}
