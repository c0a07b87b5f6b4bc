import { compileProgram } from '../support/compiled-program.ts'
import { FirstSync } from './first-sync.ts'
import { type NullService, startNullService } from './null-service.ts'
import type { BenchOptions } from './options.ts'
import { findTree } from './trees.ts'
import type { Workspace } from './workspace.ts'

/** What rows share, created once, when the first row needs it. */
export interface Bench {
  readonly options: BenchOptions
  readonly workspace: Workspace
  readonly tree: string
  readonly service: NullService
  /** The compiled `main.js`. */
  readonly program: string
  readonly firstSync: FirstSync
  log(text: string): void
}

export async function openBench(
  options: BenchOptions,
  workspace: Workspace,
  note: (text: string) => void,
): Promise<Bench & Disposable> {
  const tree = await findTree(options, workspace)
  const program = await compileProgram(workspace.fresh('program'))
  const service = await startNullService()
  const firstSync = new FirstSync({ tree, program, service, workspace })
  return {
    options,
    workspace,
    tree,
    service,
    program,
    firstSync,
    log: note,
    [Symbol.dispose]: () => service[Symbol.dispose](),
  }
}
