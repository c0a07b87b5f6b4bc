/** Why a ledger may lack acknowledged commits. Only `lacks-ours` was seen: PostgreSQL does not say whether a failover lost commits. */
export type LedgerGap =
  /** It lacks receipts of this host. */
  | 'lacks-ours'
  /** This host was at another ledger. */
  | 'another'
  /** PostgreSQL is on another timeline: after a failover, or a restore to a point in time. */
  | 'moved'
  /** Like `moved`, or a restored dump, before this host joined. */
  | 'moved-before'

/** `known`: generation and timeline of this host's last ledger, or `GENERATION/lost` until it has recovered from a loss. */
export function findLedgerGap(
  known: string | undefined,
  hasLost: boolean,
  opened: { readonly generation: string; readonly timeline: number; readonly hasMoved: boolean },
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
