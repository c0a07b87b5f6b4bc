import { fileURLToPath } from 'node:url'
import { XAPIAN, type XapianPeer } from './beside-xapian.ts'
import type { LibraryUse, SearchTimes, UseInput } from './children/use-library.ts'
import { type ResultRow, resultRow, showMegabytes, showRatio, verdict } from './result-table.ts'
import { runProcess } from './run-process.ts'

const USE = new URL('./children/use-library.ts', import.meta.url)
const MAX_MS = 20
const MAX_P95_MS = { oneClient: 30, eightClients: 60 }
const MAX_WAIT_MS = 100
const MAX_START_MS = 1_000

export interface UseSpec {
  readonly input: UseInput
  readonly files: number
  /** Of the library that is deleted in the end. */
  readonly deletedFiles: number
  /** Of the same files and words; undefined where it is not installed. */
  readonly xapian: XapianPeer | undefined
}

/** Uses an embedded library in a process of its own, which ends with the deletion of one of its libraries. */
export async function useRows({ input, files, deletedFiles, xapian }: UseSpec): Promise<ResultRow[]> {
  const { stdout } = await runProcess([process.execPath, fileURLToPath(USE), JSON.stringify(input)])
  const use: LibraryUse = JSON.parse(stdout)
  const row = (work: string, ms: number, most: number) =>
    resultRow({ work, ours: `${ms.toFixed(1)} ms`, target: `≤ ${most} ms`, verdict: verdict(ms <= most) })
  return [
    { ...row(`search for common words in ${files} files`, use.searchMs, MAX_MS), ...besideSearch(use, xapian) },
    clientsRow('one client', files, use.oneClient, MAX_P95_MS.oneClient),
    clientsRow('eight clients', files, use.eightClients, MAX_P95_MS.eightClients),
    row('a page of 500 of a listing', use.listMs, MAX_MS),
    row('the state of a resource', use.statusMs, MAX_MS),
    row(`start of the embedded library of ${files} files`, use.startMs, MAX_START_MS),
    resultRow({
      work: `deleting a library of ${deletedFiles} files until its room is given back`,
      ours: `${use.deleteMs.toFixed(0)} ms, ${showMegabytes(use.bytesAfterwards)} left`,
    }),
    row('meanwhile: the longest wait for a list of libraries', use.waitMsWhileDeleting, MAX_WAIT_MS),
    row('meanwhile: the longest wait for an upload', use.uploadMsWhileDeleting, MAX_WAIT_MS),
  ]
}

function clientsRow(clients: string, files: number, { p95Ms, perSecond }: SearchTimes, most: number): ResultRow {
  return resultRow({
    work: `95 of 100 searches for common words in ${files} files, ${clients}`,
    ours: `${p95Ms.toFixed(1)} ms, ${Math.round(perSecond)} searches/s`,
    target: `≤ ${most} ms`,
    verdict: verdict(p95Ms <= most),
  })
}

/** Cells of the row; each search of the peer is a process, as a web server runs it. */
function besideSearch({ searchMs }: LibraryUse, xapian: XapianPeer | undefined): Partial<ResultRow> {
  if (!xapian) return { peer: XAPIAN, theirs: 'not installed' }
  const theirMs = xapian.searchMs()
  return { peer: XAPIAN, theirs: `${theirMs.toFixed(1)} ms`, ratio: showRatio(searchMs / theirMs) }
}
