import { quarantineLeftMs } from '../failure/quarantine-duration.ts'

/** The state of a content between its discovery and its receipt. */
export type ContentState = 'new' | 'sending' | 'doubt' | 'stored' | 'refused'

/** The facts that decide about a file which has not received its content. */
export interface UploadCandidate {
  readonly state: ContentState
  /** An operator set the content aside. */
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

export type UploadDecision =
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
