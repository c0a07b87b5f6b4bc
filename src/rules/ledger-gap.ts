/**
 * Why a ledger may lack commits that it had acknowledged, as far as a host can know. Only `lacks-ours` was seen: PostgreSQL does not say
 * whether a failover lost commits, and hosts that would miss theirs may be away.
 */
export type LedgerGap =
  /** It lacks receipts of this host. */
  | 'lacks-ours'
  /** It is not the ledger that this host was at. */
  | 'another'
  /** PostgreSQL is on another timeline than when this host was there last: after a failover, or a restore to a point in time. */
  | 'moved'
  /** The same, or a restored dump, before this host was there first. */
  | 'moved-before'

interface OpenedLedger {
  readonly generation: string
  readonly timeline: number
  readonly hasMoved: boolean
}

/** `known`: the generation and timeline at which this host was last, or `GENERATION/lost` while it has not recovered from a loss. */
export function findLedgerGap(
  known: string | undefined,
  hasLost: boolean,
  opened: OpenedLedger,
): LedgerGap | undefined {
  const [generation, timeline] = known?.split('/') ?? []
  if (generation === undefined) return opened.hasMoved ? 'moved-before' : undefined
  if (generation !== opened.generation) return 'another'
  if (hasLost || timeline === 'lost') return 'lacks-ours'
  return timeline === String(opened.timeline) ? undefined : 'moved'
}

export function describeLedgerGap(gap: LedgerGap): string {
  return `${GAPS[gap]}; shelfd reports what is missing, waits for two leases, and looks in the library before it sends`
}

const GAPS: Readonly<Record<LedgerGap, string>> = {
  'lacks-ours': 'the ledger went back: it lacks receipts of this host',
  another: 'the ledger is another one than before, or was restored',
  moved:
    'PostgreSQL changed over to another server, or was restored: the ledger has all receipts of this host, but may lack the last commits of others',
  'moved-before':
    'PostgreSQL changed over to another server, or was restored, before this host was there: the ledger may lack commits of others',
}
