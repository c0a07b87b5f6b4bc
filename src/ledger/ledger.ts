import type { IngestionOutcome } from '../contract/states.ts'
import type { Published } from './published.ts'

/** The most contents or outcomes in one call. */
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

/** Where an upload was sent, so that a search looks for it there. */
export interface UploadPlace {
  /** The path of the file in its mirror; its last name was the name of the upload. */
  readonly path: string
  readonly remoteDirectory: string
}

export interface WantedContent extends LedgerContent {
  readonly place: UploadPlace
}

/** `remarked`: searchable, with a remark that each host must ask the service for. */
export type SharedOutcome = IngestionOutcome | 'remarked'

export type ClaimResult =
  | { readonly kind: 'mine' }
  /** This session has taken over the claim of a closed one: an upload may have arrived at any of the places. */
  | { readonly kind: 'doubtful'; readonly places: readonly UploadPlace[]; readonly host: string }
  | { readonly kind: 'stored'; readonly resourceId: string; readonly outcome: SharedOutcome; readonly host: string }
  | ({ readonly kind: 'refused'; readonly host: string } & Refusal)
  /** Another session sends it. Without `owner` it was settled or claimed just now, so the caller should ask again. */
  | { readonly kind: 'elsewhere'; readonly host: string; readonly owner: SessionBeat | undefined }
  /** A limit of all hosts allows no more; from `freesAt` on it does (milliseconds of the ledger's clock). */
  | { readonly kind: 'held'; readonly freesAt: number | null }
  /** Nothing keeps hosts from claiming it, but this call had reached its maximum (`atMost`). */
  | { readonly kind: 'free' }
  /** Hosts of this version cannot read what `host` recorded about it. */
  | { readonly kind: 'unreadable'; readonly host: string }

export interface Refusal {
  readonly code: string
  readonly message: string
  /** Milliseconds since the epoch; null: a person must act. */
  readonly retryAt: number | null
  readonly isSetAside: boolean
}

/** A host's session as others see it. */
export interface SessionBeat {
  /** Not the secret number of the session: others can only close the session by it, once that is silent. */
  readonly session: bigint
  /** How often the session was renewed. */
  readonly beat: bigint
}

/** How an upload or a search for it ended. `outcome`: ingestion ended; `retry`, `ignored`: a person lifted a refusal, or set it aside. */
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

/** An outcome about which ledger and host disagree. */
export interface DisputedOutcome {
  /** In the batch. */
  readonly index: number
  /** Another session had taken over the claim. */
  readonly isLate: boolean
  /** The resource that the ledger has for the content, if it is another one. */
  readonly resourceId: string | undefined
}

export interface HostIdentity {
  /** Identifies the host; kept in its store. */
  readonly key: string
  /** For people. */
  readonly name: string
  readonly version: string
  /** Where the state is, which distinguishes it from a copy; undefined if the system has no identifier for that. */
  readonly place?: string | undefined
  /** The state was restored or copied, so it may be older than its last session. */
  readonly isRestored?: boolean
}

export interface OpenedSession {
  /** A secret: whoever has it can act for the host. */
  readonly session: bigint
  readonly hostId: number
  /** The last batch of this host that the ledger has settled. */
  readonly settled: bigint
  /** Identifies the ledger. Another ledger, or this one on another timeline, may lack outcomes that were settled. */
  readonly generation: string
  readonly timeline: number
  /** The ledger is not where it was created, so it may lack what other hosts did. */
  readonly hasMoved: boolean
  /** How long a session may act without a beat; the same for all hosts. */
  readonly leaseMs: number
}

/** A limit that all hosts of the ledger share; null: none. */
export interface FleetLimits {
  readonly newPerDay: number | null
}

/** How a host uses a service, as it tells the other hosts. */
export interface ServiceUse {
  readonly origin: string
  /** The remaining time of a `Retry-After` that this host got. */
  readonly waitLeftMs: number
  /** This host uploads, or waits for ingestion. */
  readonly isBusy: boolean
}

export interface Renewal {
  /** The session is still open. */
  readonly isOpen: boolean
  readonly orders: readonly HostOrder[]
  /** The longest remaining `Retry-After` of any host. */
  readonly waitMs: number
  /** Other hosts that use the service now; silent ones do not count. */
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

/** Who follows the ingestion of a resource that another host sent. */
export type FollowUp =
  | { readonly kind: 'final'; readonly outcome: SharedOutcome }
  /** This session polls it from now on, because the host that did is gone. */
  | { readonly kind: 'mine' }
  /** Another session polls it; undefined `owner`: that session took it over just now. */
  | { readonly kind: 'elsewhere'; readonly owner: SessionBeat | undefined }

/**
 * What hosts that mirror into the same libraries share: claims, stored contents, refusals. Each call is one transaction, which is durable
 * when the call returns, except for `takeFollowUps` and `publish`. A call may be repeated: after TemporaryError `ledger-away` it may have
 * been carried out or not. Calls also throw LedgerError.
 */
export interface Ledger extends AsyncDisposable {
  /**
   * Opens a session and closes the host's previous one. Throws LedgerError `host-elsewhere` if the host last opened a session at another
   * place, and `host-in-use` if another process has its key, as in a copied state. That is so if the place is unknown and the ledger's
   * session is not `previous`, or if the place is known and that session was opened after `previous`, unless the state is restored.
   */
  open(host: HostIdentity, previous: bigint | null): Promise<OpenedSession>
  /** Adds a beat, and exchanges with other hosts how each uses its service. */
  renew(session: bigint, use?: ServiceUse): Promise<Renewal>
  /** Results are in the order of `contents`. Throws LedgerError `session-over`. */
  claim(
    session: bigint,
    library: LedgerLibrary,
    contents: readonly WantedContent[],
    limits: ClaimLimits,
  ): Promise<ClaimResult[]>
  /** Answers like `claim`, but claims nothing, for a dry run. */
  peek(library: LedgerLibrary, contents: readonly WantedContent[], limits: FleetLimits): Promise<ClaimResult[]>
  /**
   * Settles a batch of outcomes, also for a closed session. The number of a batch is one more than that of the previous batch of the host;
   * settling it a second time changes nothing. Returns the disputed outcomes. Throws LedgerError `went-back` if the ledger lacks an earlier
   * batch, and `session-over` for an unknown session.
   */
  settle(session: bigint, batch: bigint, ends: readonly UploadEnd[]): Promise<DisputedOutcome[]>
  /** Closes the session. Any host may then take over its contents, which are in doubt. */
  close(session: bigint): Promise<void>
  /** Closes a session of another host that had no beat after `owner.beat` within lease and grace period. Returns false if it had one. */
  closeSilent(owner: SessionBeat): Promise<boolean>
  /**
   * Asks about pending resources of other hosts. Of each resource, one host polls the status and settles the outcome. Resources that the
   * ledger lacks are missing in the answer. Throws LedgerError `session-over`.
   */
  takeFollowUps(
    session: bigint,
    library: LedgerLibrary,
    resourceIds: readonly string[],
  ): Promise<ReadonlyMap<string, FollowUp>>
  /** Replaces what this host published. Throws LedgerError `session-over`. */
  publish(session: bigint, published: Published): Promise<void>
}

/** `session-over`: the session is closed. `went-back`: the ledger lacks outcomes that this host settled. */
export type LedgerErrorCode = 'session-over' | 'host-in-use' | 'host-elsewhere' | 'went-back'

export class LedgerError extends Error {
  readonly code: LedgerErrorCode

  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerError'
    this.code = code
  }
}
