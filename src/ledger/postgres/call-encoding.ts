/** Converts between the columns of the ledger's functions and the shapes of ledger.ts. Records of other hosts may be invalid. */
import { z } from 'zod'
import { identifier } from '../../contract/records.ts'
import { errorCodes } from '../../foundation/errors.ts'
import { parseJson } from '../../foundation/text/parse-json.ts'
import type {
  ClaimResult,
  EndKind,
  FollowUp,
  LedgerLibrary,
  Refusal,
  SessionBeat,
  SharedOutcome,
  UploadEnd,
  UploadPlace,
  WantedContent,
} from '../ledger.ts'

const MAX_TEXT_BYTES = 500

const OUTCOMES: Readonly<Record<SharedOutcome, string>> = {
  pending: 'p',
  searchable: 's',
  remarked: 'r',
  partial: 'i',
  failed: 'f',
  unknown: 'u',
}

const BY_LETTER = new Map(
  (Object.keys(OUTCOMES) as SharedOutcome[]).map((outcome) => [OUTCOMES[outcome], outcome] as const),
)

const KINDS: Readonly<Record<EndKind, string>> = {
  created: 'c',
  duplicate: 'd',
  adopted: 'a',
  outcome: 'o',
  refused: 'r',
  'not-sent': 'n',
  absent: 'b',
  doubt: 'x',
  retry: 't',
  ignored: 'i',
}

/** A row of claim_1 and peek_1 about the contents `o_nth` to `o_last`, counted from 1. */
export interface ClaimRow {
  readonly o_nth: number
  readonly o_last: number
  readonly o_answer: string
  readonly o_resource: string | null
  readonly o_outcome: string | null
  readonly o_code: string | null
  readonly o_message: string | null
  readonly o_until: string | null
  readonly o_is_set_aside: boolean | null
  readonly o_places: readonly Uint8Array[] | null
  readonly o_host: string | null
  readonly o_session: string | null
  readonly o_beat: string | null
}

export interface FollowUpRow {
  readonly o_resource: string
  readonly o_answer: string
  readonly o_outcome: string
  readonly o_session: string | null
  readonly o_beat: string | null
}

/** A letter of a newer version is not an outcome here: it becomes `unknown`. */
function decodeOutcome(letter: string | null): SharedOutcome {
  return (letter !== null && BY_LETTER.get(letter)) || 'unknown'
}

export function decodeFollowUp({ o_answer, o_outcome, o_session, o_beat }: FollowUpRow): FollowUp {
  if (o_answer === 'f') return { kind: 'final', outcome: decodeOutcome(o_outcome) }
  return o_answer === 'm' ? { kind: 'mine' } : { kind: 'elsewhere', owner: decodeBeat(o_session, o_beat) }
}

/** Milliseconds since the epoch, in the range of `Date`. */
export const moment = z.coerce.number().int().min(0).max(8.64e15)
const problemCode = z.enum(errorCodes)

export function decodeClaim(row: ClaimRow): ClaimResult {
  const host = boundText(row.o_host ?? '')
  const untilMs = row.o_until === null ? null : (moment.safeParse(row.o_until).data ?? null)
  switch (row.o_answer) {
    case 'm':
      return { kind: 'mine' }
    case 'd': {
      const places = decodePlaces(row.o_places ?? [])
      return places ? { kind: 'doubtful', places, host } : { kind: 'unreadable', host }
    }
    case 's': {
      const { data: resourceId } = identifier.safeParse(row.o_resource)
      if (resourceId === undefined) return { kind: 'unreadable', host }
      return { kind: 'stored', resourceId, outcome: decodeOutcome(row.o_outcome), host }
    }
    case 'r': {
      const code = problemCode.safeParse(row.o_code).data ?? 'request-rejected'
      const refusal = { code, message: boundText(row.o_message ?? ''), retryAt: untilMs }
      return { kind: 'refused', ...refusal, isSetAside: row.o_is_set_aside === true, host }
    }
    case 'h':
      return { kind: 'held', freesAt: untilMs }
    case 'f':
      return { kind: 'free' }
    default:
      return { kind: 'elsewhere', host, owner: decodeBeat(row.o_session, row.o_beat) }
  }
}

function decodeBeat(session: string | null, beat: string | null): SessionBeat | undefined {
  return session === null || beat === null ? undefined : { session: BigInt(session), beat: BigInt(beat) }
}

/** The contents of a call as PostgreSQL arrays, each distinct content once. */
export interface ContentColumns {
  readonly mimes: readonly string[]
  readonly sha256: Buffer
  /** For each content the position of its type in `mimes`, counted from 1. */
  readonly mime: string
  /** For each content all its places as one value. */
  readonly places: Buffer
  /** For each content the index of its first mention in the call. */
  readonly rank: string
  /** For each mention in the call the row of the content, counted from 1. */
  readonly rows: readonly number[]
}

interface ContentGroup extends ContentKey {
  readonly places: UploadPlace[]
  readonly rank: number
}

/** With `isLocking`, the contents are in the order in which all hosts lock them (ContentKey), otherwise in the order of the call. */
export function encodeContents(contents: readonly WantedContent[], isLocking: boolean): ContentColumns {
  const groups: ContentGroup[] = []
  const groupAt = new Array<ContentGroup | undefined>(contents.length)
  const sorted = contents.map((content, index) => ({ ...keyOf(content), index, place: content.place }))
  for (const { index, place, ...key } of sorted.sort((a, b) => compareKeys(a, b) || a.index - b.index)) {
    const last = groups.at(-1)
    const group = last && compareKeys(last, key) === 0 ? last : { ...key, places: [], rank: index }
    if (group !== last) groups.push(group)
    group.places.push(place)
    groupAt[index] = group
  }
  if (!isLocking) groups.sort((a, b) => a.rank - b.rank)
  const mimes = sortedOnce(groups)
  const rowOf = new Map(groups.map((group, index) => [group, index + 1]))
  return {
    mimes,
    sha256: bytesColumn(groups.map(({ sha256 }) => sha256)),
    mime: column(groups.map(({ mime }) => mimes.indexOf(mime) + 1)),
    places: textsAsBytesColumn(groups.map(({ places }) => encodePlaces(places))),
    rank: column(groups.map(({ rank }) => rank)),
    rows: groupAt.map((group) => (group && rowOf.get(group)) ?? 0),
  }
}

export function encodeEnds(ends: readonly UploadEnd[]): {
  readonly values: readonly unknown[]
  readonly order: readonly number[]
} {
  const keyed = ends.map((end, index) => ({ ...keyOf(end), end, index, libraryKey: libraryKey(end.library) }))
  const libraries = [...new Map(keyed.map(({ end, libraryKey: key }) => [key, end.library]))].sort(([a], [b]) =>
    compare(a, b),
  )
  const numberOf = new Map(libraries.map(([key], index) => [key, index + 1]))
  const sorted = keyed
    .map((end) => ({ ...end, library: numberOf.get(end.libraryKey) ?? 0 }))
    .sort((a, b) => a.library - b.library || compareKeys(a, b) || a.index - b.index)
  const mimes = sortedOnce(ends)
  const columnOf = (of: (end: UploadEnd) => Value) => column(sorted.map(({ end }) => of(end)))
  const hasRefusals = ends.some(({ refusal }) => refusal)
  const refusalsOf = (of: (refusal: Refusal) => Value) =>
    hasRefusals ? columnOf(({ refusal }) => refusal && of(refusal)) : null
  const values = [
    libraries.map(([, { origin }]) => origin),
    libraries.map(([, { tenantId }]) => tenantId),
    libraries.map(([, { remoteId }]) => remoteId),
    mimes,
    column(sorted.map(({ library }) => library)),
    columnOf(({ session }) => session),
    bytesColumn(sorted.map(({ sha256 }) => sha256)),
    columnOf(({ mime }) => mimes.indexOf(mime) + 1),
    columnOf(({ sizeBytes }) => sizeBytes),
    columnOf(({ kind }) => KINDS[kind]),
    columnOf(({ resourceId }) => resourceId),
    columnOf(({ outcome }) => OUTCOMES[outcome ?? 'pending']),
    refusalsOf(({ code }) => withoutNul(code)),
    refusalsOf(({ message }) => boundText(message)),
    refusalsOf(({ retryAt }) => retryAt),
    refusalsOf(({ isSetAside }) => isSetAside),
  ]
  return { values, order: sorted.map(({ index }) => index) }
}

type Value = string | number | bigint | boolean | null | undefined

/** Written by hand, because pg escapes each element of an array several times. */
function column(values: readonly Value[]): string {
  return `{${values.map((value) => (typeof value === 'string' ? quote(value) : String(value ?? 'NULL'))).join(',')}}`
}

/** In the binary format of PostgreSQL, which is half as long as text and needs no parsing. */
function bytesColumn(values: readonly Uint8Array[]): Buffer {
  const array = bytesHeader(
    values.length,
    values.reduce((sum, { length }) => sum + length, 0),
  )
  let at = HEADER_BYTES
  for (const value of values) {
    at = array.writeInt32BE(value.length, at)
    array.set(value, at)
    at += value.length
  }
  return array
}

/** Like `bytesColumn`, for texts in UTF-8. */
function textsAsBytesColumn(texts: readonly string[]): Buffer {
  const array = bytesHeader(
    texts.length,
    texts.reduce((sum, { length }) => sum + length * MAX_BYTES_A_UNIT, 0),
  )
  let at = HEADER_BYTES
  for (const text of texts) {
    const length = array.write(text, at + LENGTH_BYTES)
    at = array.writeInt32BE(length, at) + length
  }
  return array.subarray(0, at)
}

const BYTEA_OID = 17
const LENGTH_BYTES = 4
const HEADER_BYTES = 5 * LENGTH_BYTES
/** What a UTF-16 unit takes at most in UTF-8. */
const MAX_BYTES_A_UNIT = 3

/** Allocates an array of byte strings and writes its header: one dimension, no nulls, the type, the number of elements, the first index. */
function bytesHeader(count: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + count * LENGTH_BYTES + bytes)
  for (const [index, value] of [1, 0, BYTEA_OID, count, 1].entries()) array.writeInt32BE(value, index * LENGTH_BYTES)
  return array
}

function quote(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

/** Shortens a text to MAX_TEXT_BYTES, the most that every ledger keeps. */
export function boundText(text: string): string {
  const bytes = Buffer.from(withoutNul(text))
  if (bytes.length <= MAX_TEXT_BYTES) return bytes.toString()
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_TEXT_BYTES - '…'.length * 3), { stream: true })}…`
}

/** Replaces NUL, the only character that PostgreSQL refuses in texts. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\ufffd')
}

/** All hosts lock contents in the order of these keys (SHA-256, then MIME type), so that no two hosts wait for each other. */
interface ContentKey {
  readonly sha256: Uint8Array
  readonly mime: string
  /** The first bytes of the hash as a number, which nearly always decide the order. */
  readonly prefix: number
}

function keyOf({ sha256, mime }: Pick<ContentKey, 'sha256' | 'mime'>): ContentKey {
  let prefix = 0
  for (let index = 0; index < PREFIX_BYTES; index += 1) prefix = prefix * 256 + (sha256[index] ?? 0)
  return { sha256, mime, prefix }
}

const PREFIX_BYTES = 6

function compareKeys(a: ContentKey, b: ContentKey): number {
  return a.prefix - b.prefix || Buffer.compare(a.sha256, b.sha256) || compare(a.mime, b.mime)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function sortedOnce(contents: readonly { readonly mime: string }[]): string[] {
  return [...new Set(contents.map(({ mime }) => mime))].sort()
}

function libraryKey({ origin, tenantId, remoteId }: LedgerLibrary): string {
  return `${origin} ${tenantId} ${remoteId}`
}

function encodePlaces(places: readonly UploadPlace[]): string {
  return JSON.stringify(places.map(({ path, remoteDirectory }) => [path, remoteDirectory]))
}

/** More than any file system allows. */
const MAX_PATH = 1 << 16
const recordedPlaces = z.array(z.tuple([z.string().min(1).max(MAX_PATH), z.string().max(MAX_PATH)])).min(1)

/** Returns each distinct place once; undefined if some cannot be read, because a search would not cover those. */
function decodePlaces(values: readonly (Uint8Array | null)[]): UploadPlace[] | undefined {
  const distinct = new Map<string, UploadPlace>()
  for (const value of values) {
    const { data } = recordedPlaces.safeParse(parseJson(Buffer.from(value ?? []).toString()))
    if (!data) return undefined
    for (const [path, remoteDirectory] of data) distinct.set(`${path}\0${remoteDirectory}`, { path, remoteDirectory })
  }
  return [...distinct.values()]
}
