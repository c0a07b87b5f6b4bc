import type { HostOrder } from './ledger.ts'
import type { PublishedMirror, PublishedProblem, PublishedRun } from './published.ts'

export interface HostView {
  readonly id: number
  readonly name: string
  readonly version: string
  /** When its last beat came, by the ledger's clock; null: it has no session. */
  readonly seenAt: number | null
  readonly isOpen: boolean
  /** It did not end its session, and had no beat for lease and grace. */
  readonly isSilent: boolean
  /** Contents that it sends, or that are in doubt; null: not counted. */
  readonly claims: number | null
  /** When it published the state of its mirrors last; null: never. */
  readonly publishedAt: number | null
  readonly sentInDay: number
  /** By the sign of their state: `✓`, `→`, `!`, `✗`. */
  readonly mirrors: { readonly done: number; readonly busy: number; readonly warned: number; readonly stopped: number }
  /** Contents that wait for their upload. */
  readonly waiting: number
  readonly problems: number
}

/** What people read of a host's session. */
export function sessionState({ isOpen, isSilent }: HostView): 'open' | 'closed' | 'silent' {
  if (isSilent) return 'silent'
  return isOpen ? 'open' : 'closed'
}

/** Counts over all hosts; `today`: contents that were claimed in the last 24 hours. */
export interface FleetTotals {
  readonly contents: number
  /** `contents` is an estimate of the database. */
  readonly isAbout: boolean
  /** What is being sent or in doubt, and what of it is in doubt. */
  readonly claims: number
  readonly doubts: number
  readonly secondSends: number
  readonly today: number
  readonly leaseMs: number
}

/** The host that published it. */
export interface OfHost {
  readonly hostId: number
  readonly host: string
}

/** What the ledger knows of a content in one library. */
export interface ContentFact {
  readonly kind: 'stored' | 'claimed' | 'in-doubt' | 'refused' | 'second-send'
  readonly origin: string
  readonly libraryId: string
  readonly host: string
  readonly resourceId: string | null
  readonly code: string | null
  readonly message: string | null
  /** When it was stored, claimed or noticed, or when it is tried again; null: unknown, or a person must act. */
  readonly at: number | null
}

/** Which hosts are asked for: one by its number in the ledger, or all. */
interface Selection {
  readonly hostId: number | null
  readonly limit: number
}

/** What people see of a ledger, and do with hosts; without a session. */
export interface FleetView extends AsyncDisposable {
  /** `countsClaims`: takes longer the more is being sent. */
  listHosts(options?: { readonly countsClaims?: boolean }): Promise<HostView[]>
  readTotals(): Promise<FleetTotals>
  countSecondSends(): Promise<number>
  listMirrors(hostId: number | null): Promise<(PublishedMirror & OfHost)[]>
  /** `sha256`: problems of this content alone. */
  listProblems(selection: Selection & { readonly sha256?: string }): Promise<(PublishedProblem & OfHost)[]>
  /** The newest first. */
  listRuns(selection: Selection): Promise<(PublishedRun & OfHost)[]>
  explainContent(sha256: string): Promise<ContentFact[]>
  /** Gives an order, which the host takes with a renewal, perhaps twice; returns false if there is no such host. */
  giveOrder(hostId: number, order: HostOrder): Promise<boolean>
  /** Closes its session, unless it had a beat within lease and grace. */
  forgetHost(hostId: number): Promise<'forgotten' | 'runs' | 'unknown'>
}
