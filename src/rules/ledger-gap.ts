/** Why a ledger may lack acknowledged commits. Only `lacks-ours` is certain: PostgreSQL does not tell whether a failover lost commits. */
export type LedgerGap =
  /** The ledger lacks receipts of this host. */
  | 'lacks-ours'
  /** This host used another ledger before. */
  | 'another'
  /** PostgreSQL is on another timeline: after a failover, or a restore to a point in time. */
  | 'moved'
  /** Before this host joined, PostgreSQL changed its timeline, or a dump was restored. */
  | 'moved-before'

/** `last`: generation and timeline of this host's last ledger, or `GENERATION/lost` until the host has recovered from a loss. */
export function findLedgerGap(
  last: string | undefined,
  hasLost: boolean,
  opened: { readonly generation: string; readonly timeline: number; readonly hasMoved: boolean },
): LedgerGap | undefined {
  const [generation, timeline] = last?.split('/') ?? []
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
