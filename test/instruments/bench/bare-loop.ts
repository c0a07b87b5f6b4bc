import type { Bench } from './bench.ts'
import { compileModule } from './compiled-module.ts'
import { type ProcessResult, runProcess } from './run-process.ts'

const CHILD = new URL('./children/bare-loop.ts', import.meta.url)

/** A whole process of two threads that list the tree and `lstat` or hash every file; it starts as plain JavaScript, as shelfd does. */
export async function bareLoop(
  { tree, program }: Pick<Bench, 'tree' | 'program'>,
  perFile: 'lstat' | 'hash',
): Promise<() => Promise<ProcessResult>> {
  const script = await compileModule(program, CHILD)
  return () => runProcess([process.execPath, script, tree, perFile])
}
