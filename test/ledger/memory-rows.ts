/** What a ledger in memory keeps, and by which keys. */
import { TemporaryError } from '../../src/foundation/errors.ts'
import type { LedgerLibrary, SharedOutcome, UploadEnd, UploadPlace, WantedContent } from '../../src/ledger/ledger.ts'

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

export function distinctPlaces(places: readonly UploadPlace[]): UploadPlace[] {
  return [...new Map(places.map((place) => [JSON.stringify([place.path, place.remoteDirectory]), place])).values()]
}

export function libraryKey({ origin, tenantId, remoteId }: LedgerLibrary, path = ''): string {
  return JSON.stringify([origin, tenantId, remoteId, path])
}

export function contentKey(library: LedgerLibrary, { sha256, mime }: Pick<WantedContent, 'sha256' | 'mime'>): string {
  return `${libraryKey(library)} ${Buffer.from(sha256).toString('hex')} ${mime}`
}

export function away(): TemporaryError {
  return new TemporaryError('ledger-away', 'The ledger is away')
}
