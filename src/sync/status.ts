import { IN_DOUBT } from '../rules/doubt.ts'
import type { TroubledContent } from '../store/contents.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import type { StoreReader } from '../store/open-store.ts'
import type { ProblemRow } from '../store/problems.ts'
import { isPaused } from './pause.ts'

/** Where one mirror stands, from the store alone. */
export interface MirrorStatus {
  readonly name: string
  readonly path: string
  readonly library: { readonly id: string; readonly name: string }
  readonly remotePath: string
  /** The daemon's uploads are held back until `resume`. */
  readonly isPaused: boolean
  readonly files: {
    readonly known: number
    readonly searchable: number
    /** Those of `searchable` that are stored although their text can't be searched. */
    readonly withoutText: number
    readonly inIngestion: number
    readonly toSend: number
    /** On their way now. */
    readonly sending: number
    readonly inDoubt: number
    readonly needAttention: number
    /** Went wrong, and were set aside by `failed ignore`. */
    readonly setAside: number
  }
  /** Contents and bytes that wait to be sent. */
  readonly queue: { readonly contents: number; readonly bytes: number }
  readonly directoriesToMake: number
  readonly ingestion: { readonly pending: number }
  readonly lastRun: {
    readonly run: number
    readonly verdict: string
    readonly startedAt: string
    readonly finishedAt: string | null
  } | null
  readonly problems: readonly { readonly path: string; readonly code: string; readonly message: string }[]
}

const NO_FILES: MirrorStatus['files'] = {
  known: 0,
  searchable: 0,
  withoutText: 0,
  inIngestion: 0,
  toSend: 0,
  sending: 0,
  inDoubt: 0,
  needAttention: 0,
  setAside: 0,
}

/** What the store knows of each mirror now; a run may be going on beside it. */
export function readStatus(store: StoreReader): MirrorStatus[] {
  const isHeld = store.isHeld()
  return store.mirrors.list().map((row) => statusOf(store, row, isHeld))
}

function statusOf(store: StoreReader, row: MirrorRow, isHeld: boolean): MirrorStatus {
  const { n: contents, bytes } = store.contents.countToSend(row.id)
  const troubled = store.contents.listTroubled(row.id, row.library.id)
  const contentProblems = isHeld ? troubled.filter(({ state }) => state !== 'sending') : troubled
  return {
    name: row.name,
    path: row.path,
    library: { id: row.library.remoteId, name: row.library.name },
    remotePath: row.remotePath,
    isPaused: isPaused(store, row.name),
    files: countFiles(store, row.id, isHeld),
    queue: { contents, bytes },
    directoriesToMake: store.directories.countUnmade(row.id),
    ingestion: { pending: store.contents.countPending(row) },
    lastRun: lastRunOf(store, row.id),
    problems: [...store.problems.list(row.id), ...contentProblems].map(problemOf),
  }
}

function countFiles(store: StoreReader, mirrorId: number, isHeld: boolean): MirrorStatus['files'] {
  const counts = { ...NO_FILES }
  for (const { state, outcome, isSetAside, hasProblem, files, withoutText } of store.report.tallyStates(mirrorId)) {
    counts.known += files
    if (state === 'new') counts.toSend += files
    else if (state === 'sending' && isHeld) counts.sending += files
    else if (state === 'sending' || (state === 'doubt' && hasProblem === 0)) counts.inDoubt += files
    else if (outcome === 'searchable') {
      counts.searchable += files
      counts.withoutText += withoutText
    } else if (outcome === 'pending') counts.inIngestion += files
    else if (isSetAside === 1) counts.setAside += files
    else counts.needAttention += files
  }
  return counts
}

function lastRunOf(store: StoreReader, mirrorId: number): MirrorStatus['lastRun'] {
  const run = store.runs.last(mirrorId)
  if (!run) return null
  const finishedAt = run.finishedAt === null ? null : new Date(run.finishedAt).toISOString()
  const verdict = run.verdict ?? 'not finished'
  return { run: run.id, verdict, startedAt: new Date(run.startedAt).toISOString(), finishedAt }
}

function problemOf(found: ProblemRow | TroubledContent): { path: string; code: string; message: string } {
  if ('code' in found) return { path: found.path, code: found.code, message: found.message }
  return {
    path: found.path,
    code: found.problemCode ?? IN_DOUBT.code,
    message: found.problemMessage ?? IN_DOUBT.message,
  }
}
