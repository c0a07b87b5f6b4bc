import type { HostOrder } from './ledger.ts'
import type { PublishedMirror, PublishedProblem, PublishedRun } from './published.ts'

export interface HostView {
  readonly id: number
  readonly name: string
  readonly version: string
  /** The last beat, by the ledger's clock; null: the host has no session. */
  readonly seenAt: number | null
  readonly isOpen: boolean
  /** The host did not end its session, and had no beat within lease and grace period. */
  readonly isSilent: boolean
  /** Contents that the host is sending, or that are in doubt; null: not counted. */
  readonly claims: number | null
  readonly publishedAt: number | null
  readonly sentInDay: number
  /** Numbers of mirrors by the sign of their state: `✓`, `→`, `!`, `✗`. */
  readonly mirrors: { readonly done: number; readonly busy: number; readonly warned: number; readonly stopped: number }
  readonly waiting: number
  readonly problems: number
}

export function sessionState({ isOpen, isSilent }: HostView): 'open' | 'closed' | 'silent' {
  if (isSilent) return 'silent'
  return isOpen ? 'open' : 'closed'
}

export interface FleetTotals {
  readonly contents: number
  /** `contents` is an estimate of the database. */
  readonly isAbout: boolean
  /** Contents that are being sent, or are in doubt. */
  readonly claims: number
  readonly doubts: number
  readonly secondSends: number
  /** Contents that were claimed in the last 24 hours. */
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
  /** When it was stored, claimed or noticed, or will be tried again; null: unknown, or a person must act. */
  readonly at: number | null
}

interface Selection {
  readonly hostId: number | null
  readonly limit: number
}

/** What people see and order at the ledger. It needs no session. */
export interface FleetView extends AsyncDisposable {
  /** With `countsClaims`, the more contents are being sent, the longer it takes. */
  listHosts(options?: { readonly countsClaims?: boolean }): Promise<HostView[]>
  readTotals(): Promise<FleetTotals>
  countSecondSends(): Promise<number>
  listMirrors(hostId: number | null): Promise<(PublishedMirror & OfHost)[]>
  /** With `sha256`, only problems of this content. */
  listProblems(selection: Selection & { readonly sha256?: string }): Promise<(PublishedProblem & OfHost)[]>
  listRuns(selection: Selection): Promise<(PublishedRun & OfHost)[]>
  explainContent(sha256: string): Promise<ContentFact[]>
  /** The host gets the order with its next renewal, in rare cases twice. Returns false if there is no such host. */
  giveOrder(hostId: number, order: HostOrder): Promise<boolean>
  /** Closes the host's session and unlists the host, unless it had a beat within lease and grace period. */
  forgetHost(hostId: number): Promise<'forgotten' | 'runs' | 'unknown'>
}
