/** What the functions of the ledger take and return, in place of the contract's shapes. */
import type {
  ClaimResult,
  EndKind,
  FollowUp,
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
  return (letter !== null && BY_LETTER.get(letter)) || 'unknown'
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

/** Each distinct content once; columns are arrays as PostgreSQL writes them. */
export interface ContentColumns {
  readonly mimes: readonly string[]
  readonly sha256: string
  /** Counted from 1, in `mimes`. */
  readonly mime: string
  /** All places that the call names for a content, as one value. */
  readonly places: string
  /** The index in the call, where each was named first. */
  readonly rank: string
  /** For each content of the call, the number of its row, counted from 1. */
  readonly rows: readonly number[]
}

interface ContentGroup {
  /** Sorts as every host locks contents, so that no two wait for each other: by bytes, then by MIME type. */
  readonly key: string
  readonly hex: string
  readonly mime: string
  readonly places: UploadPlace[]
  readonly rank: number
}

/** `isLocking`: in the order in which all hosts lock them; otherwise in that of the call. */
export function encodeContents(contents: readonly WantedContent[], isLocking: boolean): ContentColumns {
  const mimes = [...new Set(contents.map(({ mime }) => mime))].sort()
  const byKey = new Map<string, ContentGroup>()
  const keys = contents.map(({ sha256, mime, place }) => {
    const hex = hexOf(sha256)
    const key = `${hex} ${mime}`
    const group = byKey.get(key)
    if (group) group.places.push(place)
    else byKey.set(key, { key, hex, mime, places: [place], rank: byKey.size })
    return key
  })
  const groups = [...byKey.values()]
  if (isLocking) groups.sort((a, b) => compare(a.key, b.key))
  const rowOf = new Map(groups.map(({ key }, index) => [key, index + 1]))
  return {
    mimes,
    sha256: bytesColumn(groups.map(({ hex }) => hex)),
    mime: column(groups.map(({ mime }) => mimes.indexOf(mime) + 1)),
    places: bytesColumn(groups.map(({ places }) => encodePlaces(places).toString('hex'))),
    rank: column(groups.map(({ rank }) => rank)),
    rows: keys.map((key) => rowOf.get(key) ?? 0),
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
    .map((end, index) => {
      const hex = hexOf(end.sha256)
      return { end, index, hex, key: `${hex} ${end.mime}`, library: numberOf.get(libraryKey(end.library)) ?? 0 }
    })
    .sort((a, b) => a.library - b.library || compare(a.key, b.key) || a.index - b.index)
  const columnOf = (of: (end: UploadEnd) => Value) => column(sorted.map(({ end }) => of(end)))
  const values = [
    libraries.map(([, { origin }]) => origin),
    libraries.map(([, { tenantId }]) => tenantId),
    libraries.map(([, { remoteId }]) => remoteId),
    mimes,
    column(sorted.map(({ library }) => library)),
    columnOf(({ session }) => session),
    bytesColumn(sorted.map(({ hex }) => hex)),
    columnOf(({ mime }) => mimes.indexOf(mime) + 1),
    columnOf(({ sizeBytes }) => sizeBytes),
    columnOf(({ kind }) => KINDS[kind]),
    columnOf(({ resourceId }) => resourceId),
    columnOf(({ outcome }) => OUTCOMES[outcome ?? 'pending']),
    columnOf(({ refusal }) => refusal && withoutNul(refusal.code)),
    columnOf(({ refusal }) => refusal && boundMessage(refusal.message)),
    columnOf(({ refusal }) => refusal?.retryAt),
    columnOf(({ refusal }) => refusal?.isSetAside ?? false),
  ]
  return { values, order: sorted.map(({ index }) => index) }
}

type Value = string | number | bigint | boolean | null | undefined

/** An array as PostgreSQL writes it: the client's own way escapes each element several times. */
function column(values: readonly Value[]): string {
  return `{${values.map((value) => (typeof value === 'string' ? quote(value) : String(value ?? 'NULL'))).join(',')}}`
}

function bytesColumn(hexes: readonly string[]): string {
  return `{${hexes.map((hex) => `"\\\\x${hex}"`).join(',')}}`
}

function quote(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
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

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** Without a copy of the bytes. */
function hexOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

function libraryKey({ origin, tenantId, remoteId }: LedgerLibrary): string {
  return JSON.stringify([origin, tenantId, remoteId])
}

function encodePlaces(places: readonly UploadPlace[]): Buffer {
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
