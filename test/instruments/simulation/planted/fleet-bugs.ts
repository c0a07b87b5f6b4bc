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
    file: 'src/sync/fleet/membership.ts',
    from: 'await ledger.claim(session, library, wanted, limits)',
    to: "(await ledger.claim(session, library, wanted, limits)).map((one): ClaimResult => (one.kind === 'doubtful' ? { kind: 'mine' } : one))",
  },
  {
    name: 'the end of an upload leaves without a lease',
    file: 'src/sync/fleet/membership.ts',
    from: 'isOpen: () => this.#session.holdsLease(session),',
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
    from: '      // The ledger already has a batch up to `#settled`: only the answer to the earlier call was lost.\n',
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
    from: 'const limits = { ...this.#options.limits, ',
    to: 'const limits = { newPerDay: null, ',
  },
  {
    name: 'a lease is counted from the answer to a renewal',
    file: 'src/sync/fleet/host-session.ts',
    from: 'this.#session = { ...this.#session, since }',
    to: 'this.#session = { ...this.#session, since: this.#now() }',
  },
  {
    name: 'a lease is counted by the wall clock',
    file: 'src/sync/fleet/host-session.ts',
    from: '{ monotonicMs: clock.monotonicMs(), bootMs: this.#options.bootMs() }',
    to: '{ monotonicMs: clock.nowMs(), bootMs: clock.nowMs() }',
  },
  {
    name: 'the wall clock says how long a host was silent',
    file: 'src/sync/fleet/membership.ts',
    from: 'this.#silent.note(session, beat, clock.monotonicMs(), current.leaseMs)',
    to: 'this.#silent.note(session, beat, clock.nowMs(), current.leaseMs)',
  },
  {
    name: 'a session is closed without grace',
    file: 'src/rules/lease.ts',
    from: 'const silentAfterMs = leaseMs + graceMs(leaseMs)',
    to: 'const silentAfterMs = leaseMs',
  },
  {
    name: 'a session is closed although its beats come',
    file: 'src/rules/lease.ts',
    from: 'before?.beat === beat ? before.sinceMs : nowMs',
    to: 'before?.sinceMs ?? nowMs',
  },
  {
    name: 'what may still arrive is given back as not sent',
    file: 'src/sync/fleet/membership.ts',
    from: "session === undefined || state === 'doubt' || state === 'sending' ? []",
    to: 'session === undefined ? []',
  },
  {
    name: 'nobody searches after lost commits',
    file: 'src/store/tables/foreign-entries.ts',
    from: 'requireSearches: () => void demandAll.run(),',
    to: 'requireSearches: () => void demandAll,',
  },
  {
    name: 'nobody waits after lost commits',
    file: 'src/sync/fleet/host-session.ts',
    from: '      await clock.sleep(opened.leaseMs + graceMs(opened.leaseMs), AbortSignal.any([signal, this.#closing.signal]))\n',
    to: '      void [clock, signal]\n',
  },
  {
    name: 'a receipt reaches the ledger before the disk',
    file: 'src/sync/upload/upload-batcher.ts',
    from: 'this.#engine.store.write(work)',
    to: 'this.#engine.store.writeRelaxed(work)',
  },
  {
    name: 'a claim takes no second look at what is stored',
    file: 'test/ledger/memory-ledger.ts',
    from: `    const known = this.#known(library, content)
    if (known) return known
    const claim =`,
    to: '    const claim =',
  },
  {
    name: 'a claim is not waited for on the disk',
    file: 'test/ledger/memory-ledger.ts',
    from: 'this.#journal.commit(() => work(seen))',
    to: "this.#journal.commit(() => work(seen), name !== 'claim')",
  },
]
