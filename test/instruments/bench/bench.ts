import { compileProgram } from '../../support/compiled-program.ts'
import { FirstSync } from './first-sync.ts'
import { type NullService, startNullService } from './null-service.ts'
import { writePicture } from './results-page.ts'
import { findTree } from './trees.ts'
import type { Workspace } from './workspace.ts'

export interface BenchOptions {
  /** The tree to work on; undefined: the best one this machine has. */
  readonly tree?: string | undefined
  /** Pairs to run of each comparison. */
  readonly runs: number
  /** How many contents the ledger of the row `ledger` has before. */
  readonly contents?: number | undefined
  /** A small tree: shows that it all works, not how fast it is. */
  readonly quick: boolean
  /** Write the results into docs/development/benchmarks.md. */
  readonly write: boolean
}

/** What rows share, created once, when the first row needs it. */
export interface Bench {
  readonly options: BenchOptions
  readonly workspace: Workspace
  readonly tree: string
  readonly service: NullService
  /** The compiled `main.js`. */
  readonly program: string
  readonly firstSync: FirstSync
  /** Writes a picture for docs/development/benchmarks.md, if results are written there. */
  savePicture(name: string, description: string, svg: string): void
  /** Markdown that shows the pictures saved since the last call. */
  takePictures(): string[]
}

export async function openBench(options: BenchOptions, workspace: Workspace): Promise<Bench & Disposable> {
  const tree = await findTree(options, workspace)
  const program = await compileProgram(workspace.fresh('program'))
  const service = await startNullService()
  const firstSync = new FirstSync({ tree, program, service, workspace })
  const pictures: string[] = []
  return {
    options,
    workspace,
    tree,
    service,
    program,
    firstSync,
    savePicture: (name, description, svg) => {
      if (!options.write) return
      writePicture(name, svg)
      pictures.push(`![${description}](../images/${name})`)
    },
    takePictures: () => pictures.splice(0),
    [Symbol.dispose]: () => service[Symbol.dispose](),
  }
}
