import { createHash, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { TemporaryError } from '../../src/foundation/errors.ts'
import {
  type ClaimLimits,
  type ClaimResult,
  type DisputedOutcome,
  type FleetLimits,
  type HostOrder,
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
  type LedgerLibrary,
  type OpenedSession,
  type UploadEnd,
  type WantedContent,
} from '../../src/ledger/ledger.ts'
import type { PublishedView } from './memory-published.ts'
import type { Loss } from './memory-rows.ts'

/** A ledger under test; it outlives a test, so each test has hosts and libraries of its own. */
export interface LedgerUnderTest {
  /** A client as another host has it. */
  connect(): Ledger
  /** The clock of the ledger, in milliseconds since the epoch. */
  nowMs(): number
  /** Lets the clock of the ledger advance. */
  passTime(durationMs: number): Promise<void>
  /** Makes the next call of this client fail, before or after the ledger carries it out. */
  lose(ledger: Ledger, loss: Loss): void
  giveOrder(hostId: number, order: HostOrder): Promise<boolean>
  readonly view: PublishedView
  countExtraSends(library: LedgerLibrary): Promise<number>
  /** Returns what brings the present state back, as a failover to a standby that lacks all later commits. */
  mark(): Promise<() => Promise<void>>
}

/** Longer than lease and grace. */
export const SILENT_MS = 121_000

export const NO_LIMIT: FleetLimits = { newPerDay: null }

/** A library that no other test knows. */
export function newLibrary(origin = `https://${randomUUID()}.example`, tenantId = 1): LedgerLibrary {
  return { origin, tenantId, remoteId: randomUUID() }
}

/** A content by the words in it. */
export function wanted(words: string, path = `/Papers/${words}.md`, mime = 'text/markdown'): WantedContent {
  const sha256 = createHash('sha256').update(words).digest()
  return { sha256, mime, sizeBytes: words.length, place: { path, remoteDirectory: '/Papers' } }
}

export function manyWanted(count: number): WantedContent[] {
  return Array.from({ length: count }, (_, index) => wanted(`content ${index}`))
}

/** What differs from end to end. */
type EndOf = Partial<Omit<UploadEnd, 'kind'>> & Pick<UploadEnd, 'kind'>

/** One host with its session, as a store keeps it. */
export class TestHost {
  readonly ledger: Ledger
  readonly key = randomUUID()
  readonly library: LedgerLibrary
  name: string
  opened: OpenedSession = {
    session: 0n,
    hostId: 0,
    settled: 0n,
    generation: '',
    timeline: 0,
    hasMoved: false,
    leaseMs: 0,
  }
  batch = 0n
  place: string | undefined

  readonly #target: LedgerUnderTest

  private constructor(target: LedgerUnderTest, name: string, library: LedgerLibrary) {
    this.#target = target
    this.ledger = target.connect()
    this.name = name
    this.library = library
  }

  /** A host whose session is open. */
  static async open(target: LedgerUnderTest, name = 'nas', library = newLibrary()): Promise<TestHost> {
    const host = new TestHost(target, name, library)
    await host.open(null)
    return host
  }

  get session(): bigint {
    return this.opened.session
  }

  async open(previous: bigint | null = this.session): Promise<OpenedSession> {
    const { key, name, place } = this
    this.opened = await this.ledger.open({ key, name, version: '1.0.0', place }, previous)
    return this.opened
  }

  async claim(...contents: (string | WantedContent)[]): Promise<ClaimResult[]> {
    return await this.claimWithin(NO_LIMIT, ...contents)
  }

  async claimWithin(limits: ClaimLimits, ...contents: (string | WantedContent)[]): Promise<ClaimResult[]> {
    const all = contents.map((content) => (typeof content === 'string' ? wanted(content) : content))
    return await this.ledger.claim(this.session, this.library, all, limits)
  }

  async peek(...contents: string[]): Promise<ClaimResult[]> {
    return await this.ledger.peek(
      this.library,
      contents.map((words) => wanted(words)),
      NO_LIMIT,
    )
  }

  /** Settles the next batch: ends by the words of their contents. */
  async settle(...ends: readonly (readonly [words: string, end: EndOf])[]): Promise<DisputedOutcome[]> {
    this.batch += 1n
    return await this.repeatSettle(...ends)
  }

  async repeatSettle(...ends: readonly (readonly [words: string, end: EndOf])[]): Promise<DisputedOutcome[]> {
    return await this.ledger.settle(
      this.session,
      this.batch,
      ends.map(([words, end]) => ({ ...wanted(words), session: this.session, library: this.library, ...end })),
    )
  }

  /** Settles a content as created. */
  async create(words: string, resourceId = `r-${words}`): Promise<DisputedOutcome[]> {
    return await this.settle([words, { kind: 'created', resourceId, outcome: 'searchable' }])
  }

  /** Closes the session of another host that this one has seen silent. */
  async close(other: TestHost): Promise<void> {
    const [seen] = await this.claim(await other.#claimOne())
    if (seen?.kind !== 'elsewhere' || !seen.owner) throw new Error('The other host has no claim')
    await this.#target.passTime(SILENT_MS)
    expect(await this.ledger.closeSilent(seen.owner)).toBe(true)
  }

  async #claimOne(): Promise<WantedContent> {
    const content = wanted(randomUUID())
    await this.claim(content)
    return content
  }
}

/** Two hosts with the same library. */
export async function openTwo(target: LedgerUnderTest): Promise<[TestHost, TestHost]> {
  const first = await TestHost.open(target, 'nas')
  return [first, await TestHost.open(target, 'laptop', first.library)]
}

/** The kinds of answers. */
export async function kindsOf(results: Promise<readonly ClaimResult[]>): Promise<string[]> {
  return (await results).map(({ kind }) => kind)
}

export async function expectLedgerError(call: Promise<unknown>, code: LedgerErrorCode): Promise<void> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(LedgerError)
  expect(error).toMatchObject({ code })
}

/** Runs a call whose answer, or the call itself, is lost. */
export async function expectLost(
  target: LedgerUnderTest,
  host: TestHost,
  loss: Loss,
  call: () => Promise<unknown>,
): Promise<void> {
  target.lose(host.ledger, loss)
  const error = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TemporaryError)
  expect(error).toMatchObject({ code: 'ledger-away' })
}
