import type { DoubtCause, Reaction } from '../../foundation/errors.ts'
import { quarantineDurationMs, quarantineLeftMs } from '../failure/quarantine-duration.ts'

/** The problem of a content in doubt that has no recorded one. */
export const IN_DOUBT = {
  code: 'upload-in-doubt',
  message: 'not known whether it arrived; checked next run',
}

/** The earlier failures of a content when an upload of it ends in doubt. */
interface DoubtedContent {
  /** Earlier uploads of it that ended in doubt. */
  readonly doubts: number
  /** Earlier quarantines of it. */
  readonly problemCount: number
}

export type DoubtReaction =
  /** A look decides: if it finds nothing, the content is uploaded again. */
  | { readonly kind: 'resend' }
  /** The file has a problem. After each quarantine, one look and at most one upload follow. */
  | { readonly kind: 'quarantine'; readonly code: Exclude<DoubtCause, 'interrupted'>; readonly durationMs: number }

/** Decides what follows an upload in doubt. The first doubt has no quarantine, so that a lost answer costs no time. */
export function reactToDoubt({ doubts, problemCount }: DoubtedContent, cause: DoubtCause): DoubtReaction {
  if (cause === 'interrupted' || (doubts === 0 && problemCount === 0)) return { kind: 'resend' }
  return { kind: 'quarantine', code: cause, durationMs: quarantineDurationMs(problemCount, cause) }
}

/** Whether to look for a content in doubt now: not while it is in quarantine or set aside. */
export function needsLook(
  { retryAt, isSetAside }: { readonly retryAt: number | null; readonly isSetAside: number },
  nowMs: number,
): boolean {
  return isSetAside === 0 && quarantineLeftMs(retryAt, nowMs) === 0
}

/**
 * Whether a candidate that could not be compared blocks the upload. After a temporary failure it does, because a later
 * comparison may succeed; after any other failure, only if the content was in doubt more than once.
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
 * Ranks how likely an upload of this name created a listed entry: 0 for the same title, 1 for the same letters and digits
 * in title or slug, 2 when one begins with the other (services shorten slugs and number duplicates); undefined when it
 * can't have.
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

/** Most entries of a merely similar name (rank 2) that are downloaded and compared. */
export const MOST_OF_LIKE_NAME = 8

/** The entries to compare with an upload, likeliest first: all of rank 0 and 1, and some of rank 2. */
export function listCandidates<E extends Entry>(entries: readonly E[], upload: LookedFor): E[] {
  const ranked = entries.map((entry) => ({ entry, rank: rankCandidate(entry, upload) }))
  const ofRank = (wanted: number) => ranked.flatMap(({ entry, rank }) => (rank === wanted ? [entry] : []))
  return [...ofRank(0), ...ofRank(1), ...ofRank(2).slice(0, MOST_OF_LIKE_NAME)]
}

/** The keys of an entry. Names are similar when their keys are equal or one begins with the other. */
export function nameKeys({ title, filename }: { readonly title: string; readonly filename: string }): string[] {
  return [...new Set([reduce(stemOf(title)), reduce(title), reduce(stemOf(filename))])]
}

/** The key of a local name. */
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
