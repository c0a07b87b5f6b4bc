/** A text of a file, and what stands in its place. */
export interface PlantedBug {
  /** What the program does wrong with it. */
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

/** What hosts that share a ledger may do wrong, and the ledger itself. */
export const FLEET_BUGS: readonly PlantedBug[] = [
  {
    name: 'what a silent host was sending is sent without a search',
    file: 'src/sync/fleet/claims.ts',
    from: '        this.#recordDoubt(candidate, result.places, result.host)\n',
    to: '',
  },
  {
    name: 'the end of an upload leaves without a lease',
    file: 'src/sync/fleet/membership.ts',
    from: 'isOpen: () => this.#session.isSurelyOurs(session),',
    to: 'isOpen: () => session !== undefined,',
  },
  {
    name: 'a lease does not count the time asleep',
    file: 'src/rules/lease.ts',
    from: 'leaseMs - Math.max(now.monotonicMs - since.monotonicMs, now.bootMs - since.bootMs)',
    to: 'leaseMs - (now.monotonicMs - since.monotonicMs)',
  },
  {
    name: 'a batch is forgotten before the ledger has it',
    file: 'src/sync/fleet/settlement-outbox.ts',
    from: '      // The answer to an earlier call was lost.\n',
    to: '      this.#store.write(() => settlements.acknowledge(batch))\n',
  },
  {
    name: 'a batch whose answer was lost is numbered again',
    file: 'src/sync/fleet/settlement-outbox.ts',
    from: '      const next = this.#settled + 1n\n',
    to: '      settlements.forgetNumbers()\n      const next = this.#settled + 1n\n',
  },
  {
    name: 'a host that has nothing to send tells the ledger nothing',
    file: 'src/sync/upload/prepare-uploads.ts',
    from: '    fleet?.hasToJoin === true ||\n',
    to: '',
  },
  {
    name: 'what the ledger lost is not settled again',
    file: 'src/store/tables/settlements.ts',
    from: 'addSome.run(String(session), afterId, untilId, Number(settled))',
    to: 'void [addSome, session, settled]',
  },
  {
    name: 'a ledger that lost its last commits is not noticed',
    file: 'test/ledger/memory-ledger.ts',
    from: '    this.#timeline += 1\n',
    to: '',
  },
  {
    name: 'the limit of a day is counted for each host',
    file: 'src/sync/fleet/membership.ts',
    from: 'library, wanted, this.#options.limits)',
    to: 'library, wanted, { newPerDay: null })',
  },
]
