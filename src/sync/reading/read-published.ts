import { DAY_MS } from '../../foundation/text/times.ts'
import { MAX_PUBLISHED, type Published, type PublishedMirror, type PublishedProblem } from '../../ledger/published.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { listQuarantine } from '../operator/quarantine.ts'
import { readHistory } from '../report/run-history.ts'
import { type OverviewInput, type ReadMirror, readOverview } from './read-overview.ts'

export interface PublishedInput extends OverviewInput {
  /** Whether paths, and messages that may contain them, are published. */
  readonly namesPaths: boolean
}

/** Returns what this host publishes to the other hosts of its ledger; `store` is undefined until something is mirrored. */
export function readPublished(store: StoreReader | undefined, { namesPaths, ...input }: PublishedInput): Published {
  const mirrors = readOverview(store, input).map((mirror) => toPublished(mirror, namesPaths))
  const day = { fromMs: input.nowMs - DAY_MS, toMs: input.nowMs, intervalMs: DAY_MS }
  return {
    sentInDay: store?.timeline.tally(day).reduce((sum, { sent }) => sum + sent, 0) ?? 0,
    mirrors,
    problems: store && namesPaths ? listProblems(store) : [],
    runs: store ? readHistory(store, { limit: MAX_PUBLISHED.runs, mirror: undefined }) : [],
  }
}

/** These replace the texts of states, which may contain paths. */
const SIGN_TEXTS: Readonly<Record<ReadMirror['state']['sign'], string>> = {
  '✓': 'nothing to do',
  '→': 'in progress',
  '!': 'something to know on that host',
  '✗': 'stopped until somebody acts on that host',
}

function toPublished({ details: _, times: _times, ...mirror }: ReadMirror, namesPaths: boolean): PublishedMirror {
  if (namesPaths) return mirror
  return { ...mirror, path: null, state: { sign: mirror.state.sign, text: SIGN_TEXTS[mirror.state.sign] } }
}

/** Returns failed contents, each with its first file, then unreadable paths. */
function listProblems(store: StoreReader): PublishedProblem[] {
  const contents = listQuarantine(store).flatMap(({ files, code, message, ...content }): PublishedProblem[] => {
    const { sha256, stage, resourceId, tries, since, retryAt, isSetAside } = content
    const failed = { sha256, stage, resourceId, tries, since, retryAt, isSetAside, files: files.length }
    return files.slice(0, 1).map(({ mirror, path }) => ({ mirror, path, code, message, content: failed }))
  })
  const paths = store.mirrors.list().flatMap(({ id, name: mirror }) => {
    return store.problems
      .listOpen(id)
      .slice(0, MAX_PUBLISHED.problems)
      .map(({ path, code, message }) => ({ mirror, path, code, message, content: null }))
  })
  return [...contents, ...paths]
}
