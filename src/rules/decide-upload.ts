import { quarantineLeftMs } from './retry-delay.ts'

export type ContentState = 'new' | 'sending' | 'doubt' | 'stored' | 'refused'

export interface UploadCandidate {
  readonly state: ContentState
  readonly isSetAside: boolean
  /** The end of its quarantine (wall clock). */
  readonly retryAt: number | null
  /** This run has finished trying the content. */
  readonly isTried: boolean
  /** The directory exists at the service, or the upload names none. */
  readonly hasDirectory: boolean
}

/** `alias`: the content is stored, so nothing is uploaded for this file. */
type UploadDecision = 'upload' | 'alias' | 'wait'

/** Decides by the content and its directory. Callers then check limits and earlier uploads. */
export function decideUpload(candidate: UploadCandidate, nowMs: number): UploadDecision {
  const { state, isSetAside, retryAt, isTried, hasDirectory } = candidate
  if (state === 'stored') return 'alias'
  // An upload is under way, or a search decides what follows.
  if (state === 'sending' || state === 'doubt') return 'wait'
  if (state === 'refused' && (isSetAside || quarantineLeftMs(retryAt, nowMs) > 0)) return 'wait'
  return isTried || !hasDirectory ? 'wait' : 'upload'
}

interface NamedResource {
  readonly resourceId: string
  readonly sha256: Uint8Array
}

/** Returns ids that the service gave to different bytes. A resource has one content, and it is unknown which of them that is. */
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

interface TriedContent {
  /** Uploads of it that ended in doubt. */
  readonly doubts: number
  /** How often the content became a problem. */
  readonly failedTries: number
}

/** `last`: the content failed before, so it gets only what other contents leave of a limit. */
export type UploadPriority = 'first' | 'last'

/** Contents that keep failing must not use up a limit before others are tried once. */
export function uploadPriority({ doubts, failedTries }: TriedContent): UploadPriority {
  return doubts === 0 && failedTries === 0 ? 'first' : 'last'
}
