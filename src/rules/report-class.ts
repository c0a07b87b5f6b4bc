import type { ReportClass, ShownState } from '../contract/report-classes.ts'
import { type IngestionOutcome, isIngestionStatus } from '../contract/states.ts'
import type { ContentState } from './decide-upload.ts'
import { hasChangedUnderWay } from './path-problems.ts'
import { describeWithoutText, EMPTY, isTextSearchable, kindName } from './without-text.ts'

/** The classes of the report, with their signs in the format `combined`. */
export const REPORT_CLASSES = {
  'in-sync': '=',
  processing: '~',
  'local-only': '+',
  'remote-only': '-',
  changed: '*',
  superseded: '^',
  'missing-remotely': '?',
  'needs-attention': '!',
  ignored: 'i',
  unknown: 'u',
} as const satisfies Readonly<Record<ReportClass, string>>

export type { ReportClass }

export interface Classified {
  readonly class: ReportClass
  readonly reason: string | null
  /** What people are shown instead of the class. */
  readonly state?: ShownState
  readonly kindWithoutText?: string
}

/** The classes that make `report --check` fail. `superseded` and `ignored` don't: users cannot resolve them, as nothing is deleted. */
export const CHECKED_CLASSES: ReadonlySet<ReportClass> = new Set([
  'processing',
  'local-only',
  'remote-only',
  'changed',
  'missing-remotely',
  'needs-attention',
  'unknown',
])

/** What the store has about the content that a file had at its last scan. */
export interface ContentFacts {
  readonly state: ContentState
  readonly outcome: IngestionOutcome | null
  readonly ingestionStatus: string | null
  readonly ingestionNote: string | null
  readonly mime: string
  readonly size: number
  readonly secondLocation: number
  readonly problemCode: string | null
  readonly problemMessage: string | null
  readonly isSetAside: number
}

/**
 * Whether the listing of the library has a resource. `unasked`: there is no listing. `unknown`: it is incomplete. `unconfirmed`: a
 * complete listing lacks the resource, but the service did not say whether it is there. `absent`: the service confirmed that it is gone.
 */
export type Presence = 'listed' | 'absent' | 'unknown' | 'unconfirmed' | 'unasked'

interface PathTrouble {
  readonly code: string
  readonly message: string
  /** 1: set aside by a person. */
  readonly isSetAside?: number
}

export interface FileCircumstances {
  /** The problem of the file's path. */
  readonly problem: PathTrouble | null
  /** Why a limit holds back new contents. */
  readonly heldBack: string | null
}

export function classifyFile(
  content: ContentFacts,
  presence: Presence,
  { problem, heldBack }: FileCircumstances,
): Classified {
  if (problem !== null) return classifyTrouble(problem, content.state === 'stored')
  switch (content.state) {
    case 'new':
      return { class: 'local-only', reason: heldBack ?? 'new' }
    case 'sending':
      return { class: 'local-only', reason: 'being sent' }
    case 'doubt':
      if (content.problemCode !== null) return needsAttention(content, content.problemMessage ?? content.problemCode)
      return { class: 'local-only', reason: 'in doubt' }
    case 'refused':
      return needsAttention(content, content.problemMessage ?? 'refused')
    case 'stored':
      return classifyStored(content, presence)
  }
}

/** A file that changed while it was read is read again; other troubles need a person. `isUploaded`: its previous content is stored. */
export function classifyTrouble(
  { code, message: reason, isSetAside = 0 }: PathTrouble,
  isUploaded: boolean,
): Classified {
  if (!hasChangedUnderWay(code)) return needsAttention({ isSetAside }, reason)
  return { class: isUploaded ? 'changed' : 'local-only', reason }
}

/** Classifies a file that differs from the store. `isUploaded`: its previous content is stored. */
export function classifyDifferent(isUploaded: boolean): Classified {
  return isUploaded
    ? { class: 'changed', reason: 'changed since it was uploaded' }
    : { class: 'local-only', reason: 'new' }
}

/** Classifies a file in an unreadable directory: it may be unchanged, changed or gone. */
export function classifyHidden(): Classified {
  return { class: 'unknown', reason: 'its directory cannot be read' }
}

export function classifyLeftOut({
  kind,
  reason,
}: {
  readonly kind: 'ignored' | 'unsupported'
  readonly reason: string
}): Classified {
  if (kind === 'ignored') return { class: 'ignored', reason }
  return { class: 'needs-attention', reason: `unsupported: ${reason}`, state: 'unsupported' }
}

export function classifySuperseded(reason: string, content: Parameters<typeof isTextSearchable>[0]): Classified {
  const ended = ENDS[reason]?.state
  return { class: 'superseded', reason: describeEnd(reason, content), ...(ended && { state: ended }) }
}

/** Why a download did not confirm a content. `different`: it had other bytes; `gone`: there is no resource; `unread`: it failed. */
export type DownloadFault =
  | { readonly kind: 'different' | 'gone' }
  | { readonly kind: 'unread'; readonly message: string }

/** Classifies a content that a download did not confirm. `before` is its class without the download. */
export function classifyDownload(fault: DownloadFault, before: Pick<Classified, 'reason'>): Classified {
  const earlier = before.reason === null ? '' : `; ${before.reason}`
  switch (fault.kind) {
    case 'different':
      return { class: 'needs-attention', reason: `the service returns other bytes than were sent${earlier}` }
    case 'gone':
      return { class: 'missing-remotely', reason: `the service no longer returns its bytes${earlier}` }
    case 'unread':
      return { class: 'unknown', reason: `its bytes could not be compared: ${fault.message}${earlier}` }
  }
}

/** By the reason in the history of the store. */
const ENDS: Readonly<Record<string, { readonly text: string; readonly state?: ShownState }>> = {
  changed: { text: 'replaced by a newer version of its file' },
  gone: { text: 'gone: its file is no longer there', state: 'gone' },
  ignored: { text: 'left out: its file is not mirrored any more', state: 'left-out' },
}

/** Says why a path no longer has a content, and whether a search still finds that content. */
export function describeEnd(reason: string, content: Parameters<typeof isTextSearchable>[0]): string {
  return `${ENDS[reason]?.text ?? reason}${isTextSearchable(content) ? '; still searchable' : ''}`
}

const UNCONFIRMED = 'the listing does not show it, and the service did not say whether it is there'

function classifyStored(content: ContentFacts, presence: Presence): Classified {
  if (presence === 'unknown') return { class: 'unknown', reason: 'the listing is incomplete' }
  if (presence === 'unconfirmed') return { class: 'unknown', reason: UNCONFIRMED }
  if (presence === 'absent') return { class: 'missing-remotely', reason: 'the complete listing no longer shows it' }
  switch (content.outcome) {
    case 'searchable':
      return classifySearchable(content)
    case 'pending':
    case null:
      return { class: 'processing', reason: content.ingestionStatus ?? 'not polled yet' }
    default:
      return needsAttention(content, content.problemMessage ?? ingestionReason(content))
  }
}

/** The reason is the service's remark, if it has one. */
function classifySearchable(content: ContentFacts): Classified {
  const { ingestionNote, mime, size, secondLocation } = content
  const withoutText = describeWithoutText(ingestionNote, content)
  const note = withoutText ?? (ingestionNote === null ? undefined : `searchable with warnings: ${ingestionNote}`)
  const second = secondLocation === 1 ? 'a second location may exist' : undefined
  const reason = [note, second].filter((part) => part !== undefined).join('; ')
  const inSync: Classified = { class: 'in-sync', reason: reason === '' ? null : reason }
  return withoutText === undefined
    ? inSync
    : { ...inSync, state: 'without-text', kindWithoutText: kindName(size === 0 ? EMPTY : mime) }
}

/** Setting a problem aside keeps the class, because both sides still differ. */
function needsAttention({ isSetAside }: Pick<ContentFacts, 'isSetAside'>, reason: string): Classified {
  if (isSetAside === 1) return { class: 'needs-attention', reason: `set aside: ${reason}`, state: 'set-aside' }
  return { class: 'needs-attention', reason }
}

function ingestionReason({ ingestionStatus }: ContentFacts): string {
  return isIngestionStatus(ingestionStatus)
    ? `ingestion ended ${ingestionStatus}`
    : `ingestion is in the unknown state ${ingestionStatus}`
}
