import { quarantineLeftMs } from './retry-delay.ts'

/** The state of a content between its discovery and its receipt. */
export type ContentState = 'new' | 'sending' | 'doubt' | 'stored' | 'refused'

/** The facts that decide about a file which has not received its content. */
export interface UploadCandidate {
  readonly state: ContentState
  readonly isSetAside: boolean
  /** When the quarantine of the content ends (wall clock). */
  readonly retryAt: number | null
  /** This run finished trying the content. */
  readonly isTried: boolean
  /** The directory that the upload names exists at the service, or the upload names none. */
  readonly hasDirectory: boolean
}

/** `alias`: the content is stored, and nothing has to be uploaded for this file. */
type UploadDecision = 'upload' | 'alias' | 'wait'

/** Decides what to do with one file. Callers check limits and earlier uploads of the content afterwards. */
export function decideUpload(candidate: UploadCandidate, nowMs: number): UploadDecision {
  const { state, isSetAside, retryAt, isTried, hasDirectory } = candidate
  if (state === 'stored') return 'alias'
  // In flight, or a search decides.
  if (state === 'sending' || state === 'doubt') return 'wait'
  if (state === 'refused' && (isSetAside || quarantineLeftMs(retryAt, nowMs) > 0)) return 'wait'
  return isTried || !hasDirectory ? 'wait' : 'upload'
}

/** The resource id that an answer to an upload named, and the bytes that were sent. */
interface NamedResource {
  readonly resourceId: string
  readonly sha256: Uint8Array
}

/** Resource ids that were named for different bytes: one resource is one content (4.12), so nobody knows whose they are. */
export function contestedIds(named: Iterable<NamedResource>): ReadonlySet<string> {
  const owners = new Map<string, Uint8Array>()
  const contested = new Set<string>()
  for (const { resourceId, sha256 } of named) {
    const owner = owners.get(resourceId)
    if (owner === undefined) owners.set(resourceId, sha256)
    else if (Buffer.compare(owner, sha256) !== 0) contested.add(resourceId)
  }
  return contested
}

/** The earlier failures of a content that is to be uploaded. */
interface TriedContent {
  /** Uploads of it that ended in doubt. */
  readonly doubts: number
  /** Times that it became a problem. */
  readonly failedTries: number
}

/** `first`: the content never failed. `last`: it did, so that it gets what others leave of a run's limits. */
export type UploadPriority = 'first' | 'last'

/** Returns when a content is uploaded: those that keep failing must not use up a limit before others are tried once. */
export function uploadPriority({ doubts, failedTries }: TriedContent): UploadPriority {
  return doubts === 0 && failedTries === 0 ? 'first' : 'last'
}
