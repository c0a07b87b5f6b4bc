/** What a ledger in memory keeps, and by which keys. */
import { TemporaryError } from '../../src/foundation/errors.ts'
import {
  type FollowUp,
  type HostIdentity,
  LedgerError,
  type LedgerLibrary,
  type SharedOutcome,
  type UploadEnd,
  type UploadPlace,
  type WantedContent,
} from '../../src/ledger/ledger.ts'
import type { JournalTable } from './journal.ts'

/** Where a call is lost: before or after the ledger has carried it out. */
export type Loss = 'call' | 'answer'

/** Says of each call whether it is lost; may let time pass. */
export type Losses = (call: string) => Loss | undefined | Promise<Loss | undefined>

/** Where time may pass within a call: between its look at what is stored and its claims, and until its answer arrives. */
export interface Pauses {
  readonly onLooked?: () => Promise<void> | undefined
  readonly onAnswer?: (call: string) => Promise<void> | undefined
}

export interface Host {
  readonly id: number
  readonly name: string
  readonly version: string
  readonly session: bigint | null
  readonly settled: bigint
  readonly place?: string | undefined
}

export interface Session {
  readonly host: string
  readonly previous: bigint | null
  readonly timeline: number
  readonly beat: bigint
  readonly isClosed: boolean
  /** Its last renewal, and the service with which its host was busy then. */
  readonly seenMs: number
  readonly busyWith?: string | undefined
}

export interface Claim {
  /** 0: nobody's. */
  readonly session: bigint
  readonly host: string
  readonly isDoubtful: boolean
  readonly doubts: number
  readonly takenFrom: string | undefined
  /** Where it counts against the limit of a day. */
  readonly slot: string | undefined
  readonly places: readonly UploadPlace[]
}

export interface Stored {
  readonly library: string
  readonly resourceId: string
  readonly outcome: SharedOutcome
  readonly host: string
  /** The session that polls it in place of that host. */
  readonly followedBy?: bigint
}

/** A content was sent once more. */
export interface ExtraSend {
  readonly library: string
  readonly host: string
  readonly resourceId: string
}

interface Known {
  readonly host: Host
  readonly own: Session | undefined
  readonly timeline: number
}

/**
 * The session that an opening follows: at its own place the ledger's, unless that was opened with a copy of the state, and used. Throws if
 * another process has the key.
 */
export function sessionBefore(
  { name, place, isRestored = false }: HostIdentity,
  previous: bigint | null,
  { host, own, timeline }: Known,
): bigint | null {
  const isPlaceKnown = host.place !== undefined && place !== undefined
  if (host.session !== null && isPlaceKnown && host.place !== place)
    throw new LedgerError('host-elsewhere', `the state of host "${name}" is at another place`)
  const isCopied = !isRestored && own !== undefined && own.beat > 0n && own.previous === previous
  const last = isPlaceKnown && !isCopied ? host.session : previous
  const isUnused = own?.beat === 0n && own.previous === last
  if (own && host.session !== last && !isUnused && own.timeline === timeline)
    throw new LedgerError('host-in-use', `another process uses the key of host "${name}"`)
  return last
}

/** The number of a session is the secret of its host; others see this one, by which the session is found as well. */
export function publicOf(session: bigint): bigint {
  return -session
}

/** The host that settles a batch, with its key. Throws where the session is unknown, or an earlier batch is missing. */
export function settlerOf(
  session: Session | undefined,
  hosts: JournalTable<Host>,
  batch: bigint,
): readonly [key: string, host: Host] {
  const host = session && hosts.get(session.host)
  if (!host) throw new LedgerError('session-over', 'the session is over')
  if (host.settled >= batch - 1n) return [session.host, host]
  throw new LedgerError('went-back', `the ledger has settled ${host.settled} batches of this host`)
}

/** How many sessions beside this one are busy with a service, and had a beat after `seenAfterMs`. */
export function countBusyOthers(
  sessions: JournalTable<Session>,
  own: bigint,
  origin: string | undefined,
  seenAfterMs: number,
): number {
  const isBusy = ({ busyWith, isClosed, seenMs }: Session) => busyWith === origin && !isClosed && seenMs > seenAfterMs
  if (origin === undefined) return 0
  return [...sessions.entries()].filter(([id, session]) => id !== String(own) && isBusy(session)).length
}

/** Who polls a resource; `owner`: the session that does so far. */
export function followUpOf(
  { outcome }: Stored,
  session: bigint,
  follower: bigint,
  owner: Session | undefined,
): FollowUp {
  if (outcome !== 'pending') return { kind: 'final', outcome }
  if (follower === session || !owner || owner.isClosed) return { kind: 'mine' }
  return { kind: 'elsewhere', owner: { session: publicOf(follower), beat: owner.beat } }
}

export interface MergedContent extends WantedContent {
  readonly places: readonly UploadPlace[]
}

/** Gives each content all places that the call names for it. */
export function mergeTwins(contents: readonly WantedContent[]): MergedContent[] {
  const keyOf = ({ sha256, mime }: WantedContent) => `${Buffer.from(sha256).toString('hex')} ${mime}`
  const groups = Map.groupBy(contents, keyOf)
  return contents.map((content) => {
    return { ...content, places: distinctPlaces((groups.get(keyOf(content)) ?? []).map(({ place }) => place)) }
  })
}

export function isStoring(end: UploadEnd): end is UploadEnd & { readonly resourceId: string } {
  return end.resourceId !== undefined && ['created', 'duplicate', 'adopted'].includes(end.kind)
}

/** What is left of a claim after the end of an upload; undefined: nothing. */
export function claimAfter(claim: Claim, kind: UploadEnd['kind']): Claim | undefined {
  if (kind === 'absent') return { ...claim, isDoubtful: false }
  if (kind === 'doubt') return { ...claim, isDoubtful: true, doubts: claim.doubts + 1 }
  return kind === 'not-sent' && claim.isDoubtful ? { ...claim, session: 0n } : undefined
}

interface Receipt {
  readonly host: string
  readonly resourceId?: string
  readonly stored: Stored | undefined
  readonly own: Claim | undefined
}

/** The ledger had the receipt before: a host repeats those that it may have lost. */
export function isKnown(
  extraSends: JournalTable<ExtraSend>,
  key: string,
  { host, resourceId, stored, own }: Receipt,
): boolean {
  if (!stored) return false
  const isOther = stored.resourceId !== resourceId
  if (!own && !isOther && stored.host === host) return true
  const of = [...extraSends.entries()].filter(([other]) => other.endsWith(` ${key}`))
  return of.some(([, extra]) => extra.resourceId === resourceId && (isOther || extra.host === host))
}

export function distinctPlaces(places: readonly UploadPlace[]): UploadPlace[] {
  return [...new Map(places.map((place) => [`${place.path}\0${place.remoteDirectory}`, place])).values()]
}

export function libraryKey({ origin, tenantId, remoteId }: LedgerLibrary): string {
  return `${origin} ${tenantId} ${remoteId}`
}

export function contentKey(library: LedgerLibrary, { sha256, mime }: Pick<WantedContent, 'sha256' | 'mime'>): string {
  return `${libraryKey(library)} ${Buffer.from(sha256).toString('hex')} ${mime}`
}

/** The hash and MIME type with which keys of rows about a content end. */
export function contentOf(key: string): string {
  return key.split(' ').slice(-2).join(' ')
}

export function byContent<V>(table: JournalTable<V>): Map<string, [string, V][]> {
  return Map.groupBy(table.entries(), ([key]) => contentOf(key))
}

export function away(): TemporaryError {
  return new TemporaryError('ledger-away', 'The ledger is away')
}
