import type { HostOrder } from './ledger.ts'
import type { PublishedMirror, PublishedProblem, PublishedRun } from './published.ts'

export interface HostView {
  readonly id: number
  readonly name: string
  readonly version: string
  /** By the ledger's clock; null: it has no session. */
  readonly seenAt: number | null
  readonly isOpen: boolean
  /** It did not end its session, and had no beat within lease and grace period. */
  readonly isSilent: boolean
  /** Contents that it sends, or that are in doubt; null: not counted. */
  readonly claims: number | null
  readonly publishedAt: number | null
  readonly sentInDay: number
  /** By the sign of their state: `✓`, `→`, `!`, `✗`. */
  readonly mirrors: { readonly done: number; readonly busy: number; readonly warned: number; readonly stopped: number }
  readonly waiting: number
  readonly problems: number
}

export function sessionState({ isOpen, isSilent }: HostView): 'open' | 'closed' | 'silent' {
  if (isSilent) return 'silent'
  return isOpen ? 'open' : 'closed'
}

/** `today`: contents that were claimed in the last 24 hours. */
export interface FleetTotals {
  readonly contents: number
  /** `contents` is an estimate of the database. */
  readonly isAbout: boolean
  /** What is being sent or in doubt. */
  readonly claims: number
  readonly doubts: number
  readonly secondSends: number
  readonly today: number
  readonly leaseMs: number
}

export interface OfHost {
  readonly hostId: number
  readonly host: string
}

export interface ContentFact {
  readonly kind: 'stored' | 'claimed' | 'in-doubt' | 'refused' | 'second-send'
  readonly origin: string
  readonly libraryId: string
  readonly host: string
  readonly resourceId: string | null
  readonly code: string | null
  readonly message: string | null
  /** When it was stored, claimed or noticed, or is tried again; null: unknown, or a person must act. */
  readonly at: number | null
}

interface Selection {
  readonly hostId: number | null
  readonly limit: number
}

/** The ledger as people use it, without a session. */
export interface FleetView extends AsyncDisposable {
  /** `countsClaims` takes longer the more is being sent. */
  listHosts(options?: { readonly countsClaims?: boolean }): Promise<HostView[]>
  readTotals(): Promise<FleetTotals>
  countSecondSends(): Promise<number>
  listMirrors(hostId: number | null): Promise<(PublishedMirror & OfHost)[]>
  /** `sha256`: problems of this content only. */
  listProblems(selection: Selection & { readonly sha256?: string }): Promise<(PublishedProblem & OfHost)[]>
  listRuns(selection: Selection): Promise<(PublishedRun & OfHost)[]>
  explainContent(sha256: string): Promise<ContentFact[]>
  /** The host takes the order with a renewal, perhaps twice; returns false without such a host. */
  giveOrder(hostId: number, order: HostOrder): Promise<boolean>
  /** Closes its session, unless it had a beat within lease and grace period. */
  forgetHost(hostId: number): Promise<'forgotten' | 'runs' | 'unknown'>
}
