import type { IngestionOutcome } from '../contract/states.ts'
import type { Published } from './published.ts'

/** The most contents, ends or paths of one call. */
export const MOST_IN_A_CALL = 500

/** The library that a content is sent to, as the store pins it. */
export interface LedgerLibrary {
  readonly origin: string
  readonly tenantId: number
  readonly remoteId: string
}

/** What distinguishes a content: its bytes and its MIME type within a library. */
export interface LedgerContent {
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}

/** Where an upload was sent to: a search for it is made there. */
export interface UploadPlace {
  /** The path of the file in its mirror; its last part is the name that the upload had. */
  readonly path: string
  readonly remoteDirectory: string
}

export interface WantedContent extends LedgerContent {
  /** Where this host would send it. */
  readonly place: UploadPlace
}

/** What hosts share of the ingestion of a resource; `remarked`: it is searchable, with a remark that each host reads at the service. */
export type SharedOutcome = IngestionOutcome | 'remarked'

/** The answer about one content that a host wants to send. */
export type ClaimResult =
  /** This session may send it. */
  | { readonly kind: 'mine' }
  /** This session has taken over the claim of one that is closed: an upload may have arrived at any of the places. */
  | { readonly kind: 'doubtful'; readonly places: readonly UploadPlace[]; readonly host: string }
  /** The service has it. */
  | { readonly kind: 'stored'; readonly resourceId: string; readonly outcome: SharedOutcome; readonly host: string }
  | ({ readonly kind: 'refused'; readonly host: string } & Refusal)
  /** Another session sends it. `owner` is missing if it was settled or claimed at this moment: ask again. */
  | { readonly kind: 'elsewhere'; readonly host: string; readonly owner: SessionBeat | undefined }
  /** A limit of all hosts leaves no room for it; `freesAt` is by the clock of the ledger, in milliseconds since the epoch. */
  | { readonly kind: 'held'; readonly freesAt: number | null }
  /** Nobody sends it, and the host wants no more: any host may claim it. */
  | { readonly kind: 'free' }
  /** What this host recorded of it can be read by no host of this version: nobody sends it now. */
  | { readonly kind: 'unreadable'; readonly host: string }

export interface Refusal {
  readonly code: string
  readonly message: string
  /** Milliseconds since the epoch; null: a person must act. */
  readonly retryAt: number | null
  readonly isSetAside: boolean
}

/** A session of a host as others see it, and how often it was renewed. */
export interface SessionBeat {
  /** The number by which it can be closed once it is silent, and for nothing else. */
  readonly session: bigint
  readonly beat: bigint
}

/**
 * How an upload, or the search for one, ended; `outcome`: its resource has left ingestion; `retry`, `ignored`: somebody lifts a refusal, or
 * wants to hear no more of it.
 */
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
  /** Of `created`, `duplicate`, `adopted` and `outcome`. */
  readonly resourceId?: string
  readonly outcome?: SharedOutcome
  /** Of `refused`. */
  readonly refusal?: Refusal
}

/** An end that is not as its host thinks. */
export interface OddEnd {
  readonly index: number
  /** Another session had taken the claim over. */
  readonly isLate: boolean
  /** The resource that the ledger knows for the content, if it is another one. */
  readonly resourceId: string | undefined
}

/** What a host is: its key lies in its store, its name is for people. */
export interface HostIdentity {
  readonly key: string
  readonly name: string
  readonly version: string
  /** Distinguishes its state from a copy of it; undefined where the system does not. */
  readonly place?: string | undefined
  /** Its state may be older than its last session: it was restored, or copied. */
  readonly isRestored?: boolean
}

export interface OpenedSession {
  /** A secret of the host: who has it speaks for the host. */
  readonly session: bigint
  readonly hostId: number
  /** The number of the last batch of this host that the ledger has settled. */
  readonly settled: bigint
  /** Identifies the ledger; another one, or one on another timeline, may lack what was settled. */
  readonly generation: string
  readonly timeline: number
  /** The ledger is not where it was created: it may lack what other hosts did there. */
  readonly hasMoved: boolean
  /** How long a session may act without a renewed beat; the same for all hosts. */
  readonly leaseMs: number
}

/** A limit that all hosts of the ledger share; null: none. */
export interface FleetLimits {
  readonly newPerDay: number | null
}

/** How a host uses a service, for the others. */
export interface ServiceUse {
  readonly origin: string
  /** What is left of a `Retry-After` that it sent to this host. */
  readonly waitLeftMs: number
  /** This host uploads, or waits for ingestion. */
  readonly isBusy: boolean
}

export interface Renewal {
  readonly isOurs: boolean
  readonly orders: readonly HostOrder[]
  /** The longest time that the service asked any host to wait, from now. */
  readonly waitMs: number
  /** How many other hosts are busy with the service, by their last beats; silent ones do not count. */
  readonly busyOthers: number
}

export interface ClaimLimits extends FleetLimits {
  /** What the host may still send by its own limits; undefined: no limit. */
  readonly atMost?: number | undefined
}

/** An order that somebody gave to a host elsewhere. */
export interface HostOrder {
  readonly kind: 'pause' | 'resume' | 'sync'
  /** The name of a mirror; null: all of them. */
  readonly mirror: string | null
}

/** The answer about one resource that another host sent. */
export type FollowUp =
  | { readonly kind: 'final'; readonly outcome: SharedOutcome }
  /** This session is to poll it, since the host that did so is gone. */
  | { readonly kind: 'mine' }
  /** Another session polls it. `owner` is missing if it was taken over at this moment. */
  | { readonly kind: 'elsewhere'; readonly owner: SessionBeat | undefined }

/**
 * What hosts that mirror into the same libraries share: who sends a content, what is stored, what is refused. Each call is one
 * transaction, durable when it returns, and may be repeated. Throws LedgerError, and TemporaryError `ledger-away` when the ledger
 * cannot be reached: the call may then have been carried out.
 */
export interface Ledger extends AsyncDisposable {
  /**
   * Opens a session and closes the host's previous one. Throws LedgerError `host-elsewhere` if the host, unless it was forgotten, has opened
   * its sessions at another place; `host-in-use` if another process has its key, as in a copied state: where the place is not known, if the
   * ledger has another session than `previous` for this host; otherwise if that was opened after `previous`, unless the state is restored.
   */
  open(host: HostIdentity, previous: bigint | null): Promise<OpenedSession>
  /**
   * Adds a beat, reports how this host uses its service, and returns what others reported. `isOurs` is false once another host has closed
   * the session.
   */
  renew(session: bigint, use?: ServiceUse): Promise<Renewal>
  /** Claims contents; results are in the order of `contents`. Throws LedgerError `session-over` if the session is closed. */
  claim(
    session: bigint,
    library: LedgerLibrary,
    contents: readonly WantedContent[],
    limits: ClaimLimits,
  ): Promise<ClaimResult[]>
  /** Returns what `claim` would, and claims nothing: for a dry run. */
  peek(library: LedgerLibrary, contents: readonly WantedContent[], limits: FleetLimits): Promise<ClaimResult[]>
  /**
   * Settles batch number `batch` of the host with this session, also if it is closed. The number must be one more than the last; a batch that
   * was settled before changes nothing. Throws LedgerError `went-back` if the ledger lacks an earlier batch, and `session-over` if it does
   * not know the session. Returns the ends that are odd.
   */
  settle(session: bigint, batch: bigint, ends: readonly UploadEnd[]): Promise<OddEnd[]>
  /** Closes the host's own session, whose contents in doubt any host may take over then. */
  close(session: bigint): Promise<void>
  /**
   * Closes a session that has kept this beat; the caller has seen it unchanged for lease and grace. Returns false if it is another one by now, or
   * the ledger has seen it within that time.
   */
  closeSilent(owner: SessionBeat): Promise<boolean>
  /**
   * Asks about resources that other hosts sent and that are still in ingestion, as far as this host knows: one host polls each, and settles
   * its outcome. Resources that the ledger does not know are missing. Throws LedgerError `session-over` if the session is closed.
   */
  takeFollowUps(
    session: bigint,
    library: LedgerLibrary,
    resourceIds: readonly string[],
  ): Promise<ReadonlyMap<string, FollowUp>>
  /** Replaces what this host published of its mirrors. Throws LedgerError `session-over` if the session is closed. */
  publish(session: bigint, published: Published): Promise<void>
}

/** `session-over`: another host has closed the session. `went-back`: the ledger lacks what this host settled. */
export type LedgerErrorCode = 'session-over' | 'host-in-use' | 'host-elsewhere' | 'went-back'

export class LedgerError extends Error {
  readonly code: LedgerErrorCode

  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerError'
    this.code = code
  }
}
