import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/foundation/text/times.ts'
import { assessLedger, type LedgerFacts, type LedgerWanted } from '../../src/rules/ledger-findings.ts'

const NOW_MS = Date.UTC(2026, 10, 25)

const GOOD: LedgerFacts = {
  ...{ answersInMs: 12, version: '18.4', versionNumber: 180_004, aheadMs: 120 },
  ...{ fsync: 'on', synchronousCommit: 'on', role: 'nas', lacks: [], isInUse: false },
  tls: { protocol: 'TLSv1.3', validToMs: NOW_MS + 90 * DAY_MS },
  ledger: { schema: 3, leaseMs: 60_000 },
}

/** Each finding as a line of the doctor. */
function linesOf(change: Partial<LedgerFacts> = {}, wanted: Partial<LedgerWanted> = {}): string[] {
  const marks = { ok: '✓', unchecked: '-', warning: '!', failed: '✗' }
  const findings = assessLedger({ ...GOOD, ...change }, { schema: 3, leaseMs: undefined, nowMs: NOW_MS, ...wanted })
  return findings.map(
    ({ level, message, remedy }) => `${marks[level]} ${message}${remedy === undefined ? '' : ` → ${remedy}`}`,
  )
}

/** Lines that a ledger without trouble does not have. */
function troubles(change: Partial<LedgerFacts>, wanted: Partial<LedgerWanted> = {}): string[] {
  const good = linesOf()
  return linesOf(change, wanted).filter((line) => !good.includes(line))
}

describe('what the doctor says of a ledger', () => {
  test('one without trouble has a line for each subject, all good', () => {
    expect(linesOf()).toMatchInlineSnapshot(`
      [
        "✓ encrypted (TLSv1.3), certificate until 2027-02-23",
        "✓ PostgreSQL 18.4",
        "✓ schema 3, lease 60s",
        "✓ role nas may call its functions",
        "✓ fsync on, synchronous_commit on",
        "✓ clock +0.1 s beside PostgreSQL's",
      ]
    `)
  })

  test.each<[string, Partial<LedgerFacts>, string[]]>([
    ['no encryption within a computer is good', { tls: undefined }, ['✓ not encrypted, within this computer']],
    [
      'a certificate that ends soon is worth a word',
      { tls: { protocol: 'TLSv1.3', validToMs: NOW_MS + 3 * DAY_MS } },
      ['! encrypted (TLSv1.3), certificate until 2026-11-28 → renew the certificate of PostgreSQL'],
    ],
    [
      'an old PostgreSQL fails',
      { version: '13.9', versionNumber: 130_009 },
      ['✗ PostgreSQL 13.9: too old → PostgreSQL 14 or newer'],
    ],
    [
      'a database without a ledger fails',
      { ledger: undefined },
      ['✗ the database holds no ledger → shelfd fleet init'],
    ],
    [
      'a ledger of an older schema is to be upgraded',
      { ledger: { schema: 2, leaseMs: 60_000 } },
      ['✗ schema 2, and this program needs 3 → shelfd fleet upgrade'],
    ],
    [
      'a ledger of a newer schema serves, and the host is behind',
      { ledger: { schema: 4, leaseMs: 60_000 } },
      ['! schema 4, and this program knows 3 → install a newer shelfd on this host'],
    ],
    [
      'a role that lacks a function fails',
      { lacks: ['claim_1'] },
      ['✗ role nas may not call claim_1 → have an administrator run what "shelfd fleet init --sql" prints'],
    ],
    [
      'a role that lacks two functions fails with both',
      { lacks: ['claim_1', 'open_1'] },
      ['✗ role nas may not call claim_1 and open_1 → have an administrator run what "shelfd fleet init --sql" prints'],
    ],
    [
      'a role that may call nothing does not know whether there is a ledger',
      { lacks: ['claim_1', 'ledger_1', 'open_1'], ledger: undefined },
      [
        '✗ role nas may not call claim_1 and 2 more functions → have an administrator run what "shelfd fleet init --sql" prints',
      ],
    ],
    [
      'a key that two processes have fails',
      { isInUse: true },
      [
        '✗ another process has the key of this host: its state was copied, or restored beside it → stop one of them, and remove the copied state',
      ],
    ],
    [
      'a server that loses what it acknowledged fails',
      { fsync: 'off' },
      [
        '✗ fsync is off: what it acknowledges may be lost, and no host joins → ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()',
      ],
    ],
    [
      'a default of asynchronous commits is good, since hosts do not take it',
      { synchronousCommit: 'off' },
      ['✓ fsync on, synchronous_commit off, and on in calls of hosts'],
    ],
    [
      'another clock is worth a word, since no clock decides',
      { aheadMs: -90_000 },
      ["! clock -90.0 s beside PostgreSQL's: only times that people read are wrong → sudo timedatectl set-ntp true"],
    ],
  ])('%s', (_, change, lines) => {
    expect(troubles(change)).toEqual(lines)
  })

  test('another lease in the configuration is worth a word, and the same is not', () => {
    expect(troubles({}, { leaseMs: 60_000 })).toEqual([])
    expect(troubles({}, { leaseMs: 15_000 })).toEqual([
      '! lease 60s holds for all hosts, and the configuration of this one says 15s → set fleet.lease to 60s, or leave it out',
    ])
  })
})
