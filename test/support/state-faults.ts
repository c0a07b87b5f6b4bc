import { execFileSync } from 'node:child_process'
import { basename, join } from 'node:path'

const SOURCE = join(import.meta.dirname, 'state-faults.c')

/** What is done to a process at one of the changes it makes below a directory. */
export interface StateFault {
  /** `eio` and `enospc`: the change fails. The others kill the process before it, after half of it, or after it. */
  readonly harm: 'eio' | 'enospc' | 'kill' | 'tear' | 'kill-after'
  /** Counted from 1. */
  readonly at: number
  /** Counts only such changes, as the trace names them: `sync store.db-wal`. */
  readonly of?: string
  /** Each later one fails too. */
  readonly lasts?: boolean
}

/** Compiles the layer between the C library and a process into `directory`; needs gcc and Linux. Gives its file. */
export function compileStateFaults(directory: string): string {
  return compileLayer(directory, SOURCE)
}

/** Compiles a source of this folder into `directory` for LD_PRELOAD; needs gcc and Linux. Gives its file. */
export function compileLayer(directory: string, source: string): string {
  const file = join(directory, `${basename(source, '.c')}.so`)
  execFileSync('gcc', ['-O1', '-shared', '-fPIC', '-o', file, source])
  return file
}

/** The variables that put the layer into a process; `below` is a real path, `trace` a file that names each change. */
export function stateFaultVariables(
  layer: string,
  { below, trace, fault }: { readonly below: string; readonly trace: string; readonly fault?: StateFault },
): Record<string, string> {
  return {
    LD_PRELOAD: layer,
    FAULT_BELOW: below,
    FAULT_TRACE: trace,
    ...(fault && { FAULT_DO: fault.harm, FAULT_AT: String(fault.at) }),
    ...(fault?.of !== undefined && { FAULT_OF: fault.of }),
    ...(fault?.lasts && { FAULT_LASTS: '1' }),
  }
}
