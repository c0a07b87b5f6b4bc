import { quarantineLeftMs } from './quarantine.ts'

/** The state of a content between its discovery and its receipt. */
export type ContentState = 'new' | 'sending' | 'doubt' | 'stored' | 'refused'

/** The facts that decide about a file which has not received its content. */
export interface UploadCandidate {
  readonly state: ContentState
  readonly isSetAside: boolean
  /** When the quarantine of the content ends (wall clock). */
  readonly retryAt: number | null
  /** This run finished trying the content, or this copy of it. */
  readonly isTried: boolean
  /** The directory that the upload names exists at the service, or the upload names none. */
  readonly hasDirectory: boolean
  /** The content has several copies, and each is to become a location of its resource. */
  readonly mustLink: boolean
}

type UploadDecision =
  | { readonly kind: 'upload' }
  /** The content is stored: uploading this copy adds its location. */
  | { readonly kind: 'link' }
  /** The content is stored: nothing has to be uploaded for this file. */
  | { readonly kind: 'alias' }
  | {
      readonly kind: 'wait'
      readonly for: 'upload-in-flight' | 'look' | 'quarantine' | 'operator' | 'next-run' | 'directory'
    }

/** Decides what to do with one file. Callers check limits and earlier uploads of the content afterwards. */
export function decideUpload(candidate: UploadCandidate, nowMs: number): UploadDecision {
  const { state, isSetAside, retryAt, isTried, hasDirectory, mustLink } = candidate
  if (state === 'stored') {
    if (!mustLink) return { kind: 'alias' }
    if (isTried) return { kind: 'wait', for: 'next-run' }
    return hasDirectory ? { kind: 'link' } : { kind: 'wait', for: 'directory' }
  }
  if (state === 'sending') return { kind: 'wait', for: 'upload-in-flight' }
  if (state === 'doubt') return { kind: 'wait', for: 'look' }
  if (state === 'refused' && isSetAside) return { kind: 'wait', for: 'operator' }
  if (state === 'refused' && quarantineLeftMs(retryAt, nowMs) > 0) return { kind: 'wait', for: 'quarantine' }
  if (isTried) return { kind: 'wait', for: 'next-run' }
  return hasDirectory ? { kind: 'upload' } : { kind: 'wait', for: 'directory' }
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
  readonly problemCount: number
}

/** `first`: the content never failed. `last`: it did, so that it gets what others leave of a run's limits. */
export type UploadPriority = 'first' | 'last'

/** Returns when a content is uploaded: those that keep failing must not use up a limit before others are tried once. */
export function uploadPriority({ doubts, problemCount }: TriedContent): UploadPriority {
  return doubts === 0 && problemCount === 0 ? 'first' : 'last'
}
