import type { IngestionOutcome } from '../contract/states.ts'
import type { Published } from './published.ts'

/** The most contents, outcomes or paths of one call. */
export const MAX_IN_A_CALL = 500

export interface LedgerLibrary {
  readonly origin: string
  readonly tenantId: number
  readonly remoteId: string
}

export interface LedgerContent {
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}

/** The place that an upload was sent to, where a search looks for it. */
export interface UploadPlace {
  /** The path of the file in its mirror; the upload had its last name. */
  readonly path: string
  readonly remoteDirectory: string
}

export interface WantedContent extends LedgerContent {
  readonly place: UploadPlace
}

/** `remarked`: searchable, with a remark that each host reads at the service. */
export type SharedOutcome = IngestionOutcome | 'remarked'

export type ClaimResult =
  | { readonly kind: 'mine' }
  /** This session has taken over a closed session's claim: an upload may have arrived at any of the places. */
  | { readonly kind: 'doubtful'; readonly places: readonly UploadPlace[]; readonly host: string }
  | { readonly kind: 'stored'; readonly resourceId: string; readonly outcome: SharedOutcome; readonly host: string }
  | ({ readonly kind: 'refused'; readonly host: string } & Refusal)
  /** Another session sends it. Without `owner` it was settled or claimed just now: ask again. */
  | { readonly kind: 'elsewhere'; readonly host: string; readonly owner: SessionBeat | undefined }
  /** A limit of all hosts leaves no room; `freesAt` is in milliseconds of the ledger's clock. */
  | { readonly kind: 'held'; readonly freesAt: number | null }
  /** Any host may claim it; this call had reached its maximum. */
  | { readonly kind: 'free' }
  /** No host of this version can read what this host recorded of it. */
  | { readonly kind: 'unreadable'; readonly host: string }

export interface Refusal {
  readonly code: string
  readonly message: string
  /** Milliseconds since the epoch; null: a person must act. */
  readonly retryAt: number | null
  readonly isSetAside: boolean
}

/** A host's session as others see it, and how often it was renewed. */
export interface SessionBeat {
  /** It closes the session once that is silent, and serves for nothing else. */
  readonly session: bigint
  readonly beat: bigint
}

/** How an upload or its search ended. `outcome`: ingestion ended; `retry`, `ignored`: a person lifted or set aside a refusal. */
export type EndKind =
  | 'created'
  | 'duplicate'
  | 'adopted'
  | 'outcome'
  | 'refused'
  | 'not-sent'
  | 'absent'
  | 'doubt'
  | 'retry'
  | 'ignored'

export interface UploadEnd extends LedgerContent {
  /** The session that held the claim. */
  readonly session: bigint
  readonly library: LedgerLibrary
  readonly kind: EndKind
  readonly resourceId?: string
  readonly outcome?: SharedOutcome
  readonly refusal?: Refusal
}

/** The ledger disagrees with the host about an outcome. */
export interface DisputedOutcome {
  readonly index: number
  /** Another session had taken over the claim. */
  readonly isLate: boolean
  /** The ledger's resource for the content, if it is another one. */
  readonly resourceId: string | undefined
}

/** The key is in the host's store, the name is for people. */
export interface HostIdentity {
  readonly key: string
  readonly name: string
  readonly version: string
  /** Distinguishes the state from a copy; undefined where the system has no such identifier. */
  readonly place?: string | undefined
  /** The state may be older than its last session: it was restored or copied. */
  readonly isRestored?: boolean
}

export interface OpenedSession {
  /** A secret: a program that has it can act for the host. */
  readonly session: bigint
  readonly hostId: number
  /** The last batch of this host that the ledger has settled. */
  readonly settled: bigint
  /** Identifies the ledger; another one, or another timeline, may lack what was settled. */
  readonly generation: string
  readonly timeline: number
  /** The ledger was moved, and may lack what other hosts did. */
  readonly hasMoved: boolean
  /** How long a session may act without a beat; the same for all hosts. */
  readonly leaseMs: number
}

/** A limit that all hosts of the ledger share; null: none. */
export interface FleetLimits {
  readonly newPerDay: number | null
}

/** How a host uses a service, for the others. */
export interface ServiceUse {
  readonly origin: string
  /** The remaining time of a `Retry-After` that this host got. */
  readonly waitLeftMs: number
  /** This host uploads, or waits for ingestion. */
  readonly isBusy: boolean
}

export interface Renewal {
  readonly isOurs: boolean
  readonly orders: readonly HostOrder[]
  /** The longest remaining `Retry-After` of any host. */
  readonly waitMs: number
  /** Silent hosts do not count. */
  readonly busyOthers: number
}

export interface ClaimLimits extends FleetLimits {
  /** What the host may still send by its own limits. */
  readonly atMost?: number | undefined
}

export interface HostOrder {
  readonly kind: 'pause' | 'resume' | 'sync'
  /** The name of a mirror; null: all of them. */
  readonly mirror: string | null
}

/** About a resource that another host sent. */
export type FollowUp =
  | { readonly kind: 'final'; readonly outcome: SharedOutcome }
  /** This session polls it from now on, since the host that polled it is gone. */
  | { readonly kind: 'mine' }
  /** Another session polls it. `owner` is missing if it was taken over just now. */
  | { readonly kind: 'elsewhere'; readonly owner: SessionBeat | undefined }

/**
 * What hosts that mirror into the same libraries share: claims, stored contents, refusals. Each call is one transaction, durable when it
 * returns, and may be repeated. Throws LedgerError, and TemporaryError `ledger-away`: the call may then have been carried out.
 */
export interface Ledger extends AsyncDisposable {
  /**
   * Opens a session and closes the host's previous one. Throws LedgerError `host-elsewhere` if the host last opened a session at another
   * place; `host-in-use` if another process has its key, as in a copied state: without a known place, if the ledger's session is not
   * `previous`; otherwise if it was opened after `previous`, unless the state is restored.
   */
  open(host: HostIdentity, previous: bigint | null): Promise<OpenedSession>
  /** Adds a beat, reports this host's use of its service, and returns the others'. `isOurs` is false once the session is closed. */
  renew(session: bigint, use?: ServiceUse): Promise<Renewal>
  /** Results are in the order of `contents`. Throws LedgerError `session-over`. */
  claim(
    session: bigint,
    library: LedgerLibrary,
    contents: readonly WantedContent[],
    limits: ClaimLimits,
  ): Promise<ClaimResult[]>
  /** Like `claim` for a dry run: claims nothing. */
  peek(library: LedgerLibrary, contents: readonly WantedContent[], limits: FleetLimits): Promise<ClaimResult[]>
  /**
   * Settles a batch of the host, also if the session is closed. Numbers go up by one, and a settled batch changes nothing. Throws
   * LedgerError `went-back` if the ledger lacks an earlier batch, `session-over` for an unknown session. Returns the disputed outcomes.
   */
  settle(session: bigint, batch: bigint, ends: readonly UploadEnd[]): Promise<DisputedOutcome[]>
  /** Any host may then take over the contents in doubt. */
  close(session: bigint): Promise<void>
  /** Closes a session without a new beat for lease and grace period. Returns false if it had one. */
  closeSilent(owner: SessionBeat): Promise<boolean>
  /**
   * Asks about pending resources of other hosts: one host polls each, and settles its outcome. Unknown resources are missing. Throws
   * LedgerError `session-over`.
   */
  takeFollowUps(
    session: bigint,
    library: LedgerLibrary,
    resourceIds: readonly string[],
  ): Promise<ReadonlyMap<string, FollowUp>>
  /** Replaces what this host published. Throws LedgerError `session-over`. */
  publish(session: bigint, published: Published): Promise<void>
}

/** `session-over`: another host has closed the session. `went-back`: the ledger lacks outcomes that this host settled. */
export type LedgerErrorCode = 'session-over' | 'host-in-use' | 'host-elsewhere' | 'went-back'

export class LedgerError extends Error {
  readonly code: LedgerErrorCode

  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerError'
    this.code = code
  }
}
