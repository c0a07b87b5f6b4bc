import type { DoubtCause, Reaction } from '../foundation/errors.ts'
import { quarantineDurationMs, quarantineLeftMs } from './quarantine-duration.ts'

/** The problem of a content in doubt that has no other. */
export const IN_DOUBT = {
  code: 'upload-in-doubt',
  message: 'not known whether it arrived; checked next run',
}

/** What is known of a content when an upload of it ends in doubt. */
interface DoubtedContent {
  /** Earlier uploads of it that ended in doubt. */
  readonly doubts: number
  /** Quarantines it has had. */
  readonly problemCount: number
}

export type DoubtReaction =
  /** A look decides; if it finds nothing, the content is sent once more. */
  | { readonly kind: 'resend' }
  /** It is a problem of the file, which is tried again after the pause: one look and one send each time. */
  | { readonly kind: 'quarantine'; readonly code: Exclude<DoubtCause, 'interrupted'>; readonly pauseMs: number }

/** What follows from an upload in doubt. The first one is sent again at once, so that a lost answer costs no time. */
export function reactToDoubt({ doubts, problemCount }: DoubtedContent, cause: DoubtCause): DoubtReaction {
  if (cause === 'interrupted' || (doubts === 0 && problemCount === 0)) return { kind: 'resend' }
  return { kind: 'quarantine', code: cause, pauseMs: quarantineDurationMs(problemCount, cause) }
}

/** Whether to look for a content in doubt now: when it has no problem yet, and whenever its quarantine is over. */
export function needsLook(
  { retryAt, isSetAside }: { readonly retryAt: number | null; readonly isSetAside: number },
  nowMs: number,
): boolean {
  return isSetAside === 0 && quarantineLeftMs(retryAt, nowMs) === 0
}

/**
 * Whether a candidate that could not be compared keeps its content from being sent. One that the service fails to give may be
 * compared another time; one that it will not give is passed over, unless the content was in doubt more than once.
 */
export function standsInTheWay({ reaction }: { readonly reaction: Reaction }, doubts: number): boolean {
  return reaction === 'temporary' || doubts > 1
}

interface LookedFor {
  readonly name: string
  readonly mime: string
}

interface Entry {
  readonly title: string
  readonly slug: string
  readonly mime_type: string
}

/**
 * How likely a listed entry is what an upload of this name left behind: 0 for the same title, 1 for the same letters and
 * digits in title or slug, 2 for a beginning of one another (a service makes its slugs as it likes, cuts them, numbers
 * twins); undefined when it can't be it.
 */
export function rankCandidate(entry: Entry, upload: LookedFor): 0 | 1 | 2 | undefined {
  if (entry.mime_type !== upload.mime) return undefined
  if (entry.title === upload.name) return 0
  const stem = nameKey(upload.name)
  const seen = [reduce(stemOf(entry.title)), reduce(entry.title), reduce(entry.slug)]
  if (seen.includes(stem)) return 1
  const isBeginning = (text: string) => text !== '' && stem !== '' && (text.startsWith(stem) || stem.startsWith(text))
  return seen.some(isBeginning) ? 2 : undefined
}

/** Entries that only begin like a name and are downloaded to be compared. */
export const MOST_OF_LIKE_NAME = 8

/** The entries to compare with an upload, the likeliest first: all of its name, and some that only begin like it. */
export function listCandidates<E extends Entry>(entries: readonly E[], upload: LookedFor): E[] {
  const ranked = entries.map((entry) => ({ entry, rank: rankCandidate(entry, upload) }))
  const ofRank = (wanted: number) => ranked.flatMap(({ entry, rank }) => (rank === wanted ? [entry] : []))
  return [...ofRank(0), ...ofRank(1), ...ofRank(2).slice(0, MOST_OF_LIKE_NAME)]
}

/** By what an entry is found for a name that is like its own: equal keys, or one that begins the other. */
export function nameKeys({ title, filename }: { readonly title: string; readonly filename: string }): string[] {
  return [...new Set([reduce(stemOf(title)), reduce(title), reduce(stemOf(filename))])]
}

/** The same of a local name. */
export function nameKey(name: string): string {
  return reduce(stemOf(name))
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

function reduce(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
