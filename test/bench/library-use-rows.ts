import { fileURLToPath } from 'node:url'
import type { LibraryUse, UseInput } from './children/use-library.ts'
import { type ResultRow, resultRow, showMegabytes, verdict } from './result-table.ts'
import { runProcess } from './run-process.ts'

const USE = new URL('./children/use-library.ts', import.meta.url)
const MOST_MS = 20
const MOST_WAIT_MS = 100
const MOST_START_MS = 1_000

/** Uses an embedded library in a process of its own, which ends with the deletion of one of its libraries of `deletedFiles`. */
export async function useRows(input: UseInput, files: number, deletedFiles: number): Promise<ResultRow[]> {
  const { stdout } = await runProcess([process.execPath, fileURLToPath(USE), JSON.stringify(input)])
  const use: LibraryUse = JSON.parse(stdout)
  const row = (work: string, ms: number, most: number) =>
    resultRow({ work, ours: `${ms.toFixed(1)} ms`, target: `≤ ${most} ms`, verdict: verdict(ms <= most) })
  return [
    row(`search for common words in ${files} files`, use.searchMs, MOST_MS),
    row('a page of 500 of a listing', use.listMs, MOST_MS),
    row('the state of a resource', use.statusMs, MOST_MS),
    row(`start of the embedded library of ${files} files`, use.startMs, MOST_START_MS),
    resultRow({
      work: `deleting a library of ${deletedFiles} files until its room is given back`,
      ours: `${use.deleteMs.toFixed(0)} ms, ${showMegabytes(use.bytesAfterwards)} left`,
    }),
    row('meanwhile: the longest wait for a list of libraries', use.waitMsWhileDeleting, MOST_WAIT_MS),
    row('meanwhile: the longest wait for an upload', use.uploadMsWhileDeleting, MOST_WAIT_MS),
  ]
}
