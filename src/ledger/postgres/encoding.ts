/** What the functions of the ledger take and return, in place of the contract's shapes. */
import type {
  ClaimResult,
  EndKind,
  FollowUp,
  LedgerContent,
  LedgerLibrary,
  SessionBeat,
  SharedOutcome,
  UploadEnd,
  UploadPlace,
  WantedContent,
} from '../ledger.ts'

const MOST_MESSAGE_BYTES = 500

const OUTCOMES: Readonly<Record<SharedOutcome, string>> = {
  pending: 'p',
  searchable: 's',
  remarked: 'r',
  partial: 'i',
  failed: 'f',
  unknown: 'u',
}

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

/** A row of claim_1 and peek_1. */
export interface ClaimRow {
  readonly o_nth: number
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

/** A row of take_follow_ups_1. */
export interface FollowUpRow {
  readonly o_resource: string
  readonly o_answer: string
  readonly o_outcome: string
  readonly o_session: string | null
  readonly o_beat: string | null
}

/** A letter of a newer version is no outcome that this one may take for granted. */
function decodeOutcome(letter: string | null): SharedOutcome {
  const known = (Object.keys(OUTCOMES) as SharedOutcome[]).find((outcome) => OUTCOMES[outcome] === letter)
  return known ?? 'unknown'
}

export function decodeFollowUp({ o_answer, o_outcome, o_session, o_beat }: FollowUpRow): FollowUp {
  if (o_answer === 'f') return { kind: 'final', outcome: decodeOutcome(o_outcome) }
  return o_answer === 'm' ? { kind: 'mine' } : { kind: 'elsewhere', owner: decodeBeat(o_session, o_beat) }
}

export function decodeClaim(row: ClaimRow): ClaimResult {
  const host = row.o_host ?? ''
  const untilMs = row.o_until === null ? null : Number(row.o_until)
  switch (row.o_answer) {
    case 'm':
      return { kind: 'mine' }
    case 'd':
      return { kind: 'doubtful', places: decodePlaces(row.o_places ?? []), host }
    case 's':
      return { kind: 'stored', resourceId: row.o_resource ?? '', outcome: decodeOutcome(row.o_outcome), host }
    case 'r': {
      const refusal = { code: row.o_code ?? '', message: row.o_message ?? '', retryAt: untilMs }
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

/** Each distinct content once. */
export interface ContentColumns {
  readonly mimes: readonly string[]
  readonly sha256: readonly Uint8Array[]
  /** Counted from 1, in `mimes`. */
  readonly mime: readonly number[]
  /** All places that the call names for a content, as one value. */
  readonly places: readonly Uint8Array[]
  /** The index in the call, where each was named first. */
  readonly rank: readonly number[]
  /** For each content of the call, the number of its row, counted from 1. */
  readonly rows: readonly number[]
}

/** `isLocking`: in the order in which all hosts lock them; otherwise in that of the call. */
export function encodeContents(contents: readonly WantedContent[], isLocking: boolean): ContentColumns {
  const mimes = [...new Set(contents.map(({ mime }) => mime))].sort()
  const byKey = Map.groupBy(contents, keyOf)
  const groups = [...byKey.values()]
  if (isLocking) groups.sort(([a], [b]) => (a && b ? compareContents(a, b) : 0))
  const rankOf = new Map([...byKey.keys()].map((key, index) => [key, index]))
  const rowOf = new Map(groups.map(([first], index) => [first && keyOf(first), index + 1]))
  return {
    mimes,
    sha256: groups.flatMap(([first]) => first?.sha256 ?? []),
    mime: groups.flatMap(([first]) => (first ? mimes.indexOf(first.mime) + 1 : [])),
    places: groups.map((group) => encodePlaces(group.map(({ place }) => place))),
    rank: groups.map(([first]) => (first && rankOf.get(keyOf(first))) ?? 0),
    rows: contents.map((content) => rowOf.get(keyOf(content)) ?? 0),
  }
}

/** The parameters of settle_1 after the number of the batch; `order` holds for each row the index of its end. */
export function encodeEnds(ends: readonly UploadEnd[]): {
  readonly values: readonly unknown[]
  readonly order: readonly number[]
} {
  const libraries = [...new Map(ends.map(({ library }) => [libraryKey(library), library]))].sort(([a], [b]) =>
    compare(a, b),
  )
  const mimes = [...new Set(ends.map(({ mime }) => mime))].sort()
  const numberOf = new Map(libraries.map(([key], index) => [key, index + 1]))
  const sorted = ends
    .map((end, index) => ({ end, index, library: numberOf.get(libraryKey(end.library)) ?? 0 }))
    .sort((a, b) => a.library - b.library || compareContents(a.end, b.end) || a.index - b.index)
  const column = (of: (end: UploadEnd) => unknown) => sorted.map(({ end }) => of(end))
  const values = [
    libraries.map(([, { origin }]) => origin),
    libraries.map(([, { tenantId }]) => tenantId),
    libraries.map(([, { remoteId }]) => remoteId),
    mimes,
    sorted.map(({ library }) => library),
    column(({ session }) => session),
    column(({ sha256 }) => sha256),
    column(({ mime }) => mimes.indexOf(mime) + 1),
    column(({ sizeBytes }) => sizeBytes),
    column(({ kind }) => KINDS[kind]),
    column(({ resourceId }) => resourceId),
    column(({ outcome }) => OUTCOMES[outcome ?? 'pending']),
    column(({ refusal }) => refusal && withoutNul(refusal.code)),
    column(({ refusal }) => refusal && boundMessage(refusal.message)),
    column(({ refusal }) => refusal?.retryAt),
    column(({ refusal }) => refusal?.isSetAside ?? false),
  ]
  return { values, order: sorted.map(({ index }) => index) }
}

/** A message of at most 500 bytes, as every ledger keeps it. */
export function boundMessage(message: string): string {
  const bytes = Buffer.from(withoutNul(message))
  if (bytes.length <= MOST_MESSAGE_BYTES) return bytes.toString()
  return `${new TextDecoder().decode(bytes.subarray(0, MOST_MESSAGE_BYTES - '…'.length * 3), { stream: true })}…`
}

/** PostgreSQL takes any text without it. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\ufffd')
}

/** By bytes, then by MIME type: the order in which every host locks contents, so that no two wait for each other. */
function compareContents(a: LedgerContent, b: LedgerContent): number {
  return Buffer.compare(a.sha256, b.sha256) || compare(a.mime, b.mime)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function keyOf({ sha256, mime }: LedgerContent): string {
  return `${Buffer.from(sha256).toString('hex')} ${mime}`
}

function libraryKey({ origin, tenantId, remoteId }: LedgerLibrary): string {
  return JSON.stringify([origin, tenantId, remoteId])
}

function encodePlaces(places: readonly UploadPlace[]): Uint8Array {
  return Buffer.from(JSON.stringify(places.map(({ path, remoteDirectory }) => [path, remoteDirectory])))
}

/** Returns each distinct place once. */
function decodePlaces(values: readonly Uint8Array[]): UploadPlace[] {
  const places = values.flatMap((value): [string, string][] => JSON.parse(Buffer.from(value).toString()))
  const distinct = new Map(
    places.map(([path, remoteDirectory]) => [JSON.stringify([path, remoteDirectory]), { path, remoteDirectory }]),
  )
  return [...distinct.values()]
}
