import type { ResourceRecord } from '../../contract/records.ts'
import { type IngestionOutcome, ingestionOutcome } from '../../contract/states.ts'
import { AutoResetEvent } from '../../foundation/concurrency/auto-reset-event.ts'
import { forEachConcurrently } from '../../foundation/concurrency/run-concurrently.ts'
import { isNotFound, ShelfdError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import { needsPassword, remarkOf, WITHOUT_TEXT } from '../../rules/without-text.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Connection, Engine } from '../engine.ts'
import { isServiceWell } from '../item-failure.ts'
import { quarantineUntil } from '../operator/quarantine.ts'
import type { Follower } from './ingestion-capacity.ts'
import { type FollowedResource, PollSchedule } from './poll-schedule.ts'

type FailedPoll = PollFailure & { readonly followed: FollowedResource }

const MAX_FAILED_POLLS = 5

/** Resources that become due within this time are polled in one round. */
const GATHERING_MS = 20

/** The most polls per second while no resource ends: the follower waits after each such round. */
const FRUITLESS_POLLS_PER_SECOND = 50

export function hasToFollow({ store, clock }: Engine, row: MirrorRow): boolean {
  return store.contents.countPending(row) > 0 || store.contents.listDueForRecheck(row.id, clock.nowMs()).length > 0
}

/**
 * Polls resources until each has a final state, in the order of its schedule. A resource that is still pending at the end is polled by a
 * later run, never uploaded again (P5, pending resources).
 */
export class IngestionFollower implements Follower {
  readonly #engine: Engine
  readonly #connection: Connection
  readonly #schedule: PollSchedule
  readonly #wakeUp = new AutoResetEvent()
  hasFailed = false
  #mayEnd = false
  #stopAtMs = Number.POSITIVE_INFINITY

  constructor(engine: Engine, connection: Connection) {
    this.#engine = engine
    this.#connection = connection
    this.#schedule = new PollSchedule(engine)
  }

  /** Follows the mirror's resources as well. */
  add(row: MirrorRow): void {
    if (this.#schedule.add(row)) this.recheck()
  }

  /** Stops following the mirror's resources, because another run follows them. */
  remove(mirrorId: number): void {
    this.#schedule.remove(mirrorId)
  }

  /** Checks failed resources that are due now, instead of at the planned time. */
  recheck(): void {
    this.#schedule.recheck()
    this.#wakeUp.set()
  }

  /** Lets `run` end once all resources are final, or after `waitMs`. Call it when no more resources will come. */
  finish(waitMs: number): void {
    this.#mayEnd = true
    this.#stopAtMs = this.#engine.clock.monotonicMs() + waitMs
    this.#wakeUp.set()
  }

  /** Polls until `finish` lets it end or the signal is aborted. If it fails, it wakes the upload stages, which then stop. */
  async run(): Promise<void> {
    const { ingestion, store } = this.#engine
    using _joined = ingestion.join(() => this.#countOwn())
    using _listening = store.contents.onNewlyPending(() => this.#followNewSoon())
    try {
      await this.#follow()
    } catch (error) {
      this.hasFailed = true
      ingestion.announce()
      throw error
    }
  }

  /** Each round takes new and rechecked resources from the store, then polls those that are due; if none is due, it waits. */
  async #follow(): Promise<void> {
    const { clock, signal } = this.#engine
    while (!signal.aborted && clock.monotonicMs() < this.#stopAtMs) {
      this.#schedule.followRepaired()
      this.#schedule.followNew()
      this.#schedule.showLongest()
      if (this.#schedule.isEmpty && this.#mayEnd) return
      const due = this.#schedule.listDue(clock.monotonicMs())
      if (due.length === 0) await this.#waitUntil(this.#schedule.nextDueMs() + GATHERING_MS)
      else if ((await this.#poll(due)) === 0)
        await this.#waitUntil(clock.monotonicMs() + (due.length * 1_000) / FRUITLESS_POLLS_PER_SECOND)
    }
  }

  async #waitUntil(nextMs: number): Promise<void> {
    const { clock, signal } = this.#engine
    const delayMs = Math.max(1, Math.min(nextMs, this.#stopAtMs) - clock.monotonicMs())
    await this.#wakeUp.waitAtMost(clock, delayMs, signal)
  }

  /** Polls resources once; returns how many have ended. */
  async #poll(due: readonly FollowedResource[]): Promise<number> {
    const { endedCount, toPoll } = await this.#askLedger(due)
    const answers: FollowedPoll[] = []
    const failed: FailedPoll[] = []
    try {
      await forEachConcurrently(toPoll, this.#engine.limits.checkers, async (followed) => {
        if (this.#engine.signal.aborted) return
        const answer = await this.#ask(followed)
        if ('error' in answer) failed.push(answer)
        else answers.push(answer)
      })
    } finally {
      this.#applyAnswers(answers)
    }
    for (const poll of failed) await this.#applyFailure(poll, answers.length > 0)
    return endedCount + answers.filter(({ outcome }) => outcome !== 'pending').length
  }

  /**
   * Asks the ledger about resources that other hosts poll. Returns how many have ended, and the resources that this host must poll itself.
   * These include failed ones, because only the service has the details of a failure, and overdue ones, which every host polls.
   */
  async #askLedger(due: readonly FollowedResource[]): Promise<{ endedCount: number; toPoll: FollowedResource[] }> {
    const { fleet } = this.#engine
    const theirs = fleet ? due.filter(({ host, isKnownOverdue }) => host !== null && !isKnownOverdue) : []
    const ended = new Map<FollowedResource, FollowedPoll>()
    const waiting = new Set<FollowedResource>()
    for (const [library, some] of Map.groupBy(theirs, ({ mirror }) => mirror.library)) {
      const answers = await fleet?.takeFollowUps(
        library,
        some.map(({ resourceId }) => resourceId),
      )
      for (const followed of some) {
        const answer = answers?.get(followed.resourceId)
        if (answer?.kind === 'elsewhere') waiting.add(followed)
        else if (answer?.kind === 'final' && answer.outcome === 'searchable')
          ended.set(followed, { followed, ...SEARCHABLE })
      }
    }
    this.#applyAnswers([...ended.values()])
    for (const followed of waiting) this.#postpone(followed)
    return { endedCount: ended.size, toPoll: due.filter((one) => !ended.has(one) && !waiting.has(one)) }
  }

  async #ask(followed: FollowedResource): Promise<FollowedPoll | FailedPoll> {
    const { library } = followed.mirror
    const poll = await pollResource(this.#connection, library.remoteId, followed.resourceId, this.#engine.signal)
    return { followed, ...poll }
  }

  /** Plans the next poll after a failed one, or records a problem after several. Throws if the service as a whole fails. */
  async #applyFailure({ followed, error }: FailedPoll, othersAnswered: boolean): Promise<void> {
    const { signal } = this.#engine
    const needed = { libraryId: followed.mirror.library.remoteId, right: 'read' } as const
    const isOfItem = othersAnswered || reactToFailure(error).scope === 'item'
    if (!isOfItem && !(await isServiceWell(this.#connection, needed, signal))) throw error
    if (!this.#schedule.isFollowed(followed)) return
    followed.failures += 1
    if (followed.failures < MAX_FAILED_POLLS) {
      this.#postpone(followed)
      return
    }
    this.#schedule.release(followed)
    this.#schedule.planRecheck(recordPollFailure(this.#engine, followed, error))
    this.#engine.ingestion.announce()
  }

  #applyAnswers(all: readonly FollowedPoll[]): void {
    const answers = all.filter(({ followed }) => this.#schedule.isFollowed(followed))
    for (const retryAt of recordPolls(this.#engine, answers)) this.#schedule.planRecheck(retryAt)
    let hasEnded = false
    for (const { followed, outcome } of answers) {
      if (outcome !== 'pending') {
        this.#schedule.release(followed)
        hasEnded = true
      } else {
        followed.failures = 0
        this.#postpone(followed)
      }
    }
    if (!hasEnded) return
    this.#engine.ingestion.announce()
    this.#engine.fleet?.settleSoon()
  }

  #postpone(followed: FollowedResource): void {
    if (this.#schedule.postpone(followed)) this.#engine.ingestion.announce()
  }

  #followNewSoon(): void {
    this.#schedule.noteNew()
    this.#wakeUp.set()
  }

  #countOwn(): number {
    this.#schedule.followNew()
    return this.#schedule.countNotOverdue()
  }
}

const MAX_NOTE = 500

interface PollResult {
  readonly outcome: IngestionOutcome
  readonly status: string | null
  readonly note: string | null
  /** Null: the resource needs no attention. */
  readonly problem: string | null
}

interface PollFailure {
  readonly error: ShelfdError
}

/** The result for a resource that another host polled, if the ledger has it as searchable. */
const SEARCHABLE = { outcome: 'searchable', status: 'completed', note: null, problem: null, isShared: true } as const

/** Polls a resource once. Returns an error that may concern this resource alone, and throws any other. */
async function pollResource(
  { client }: Connection,
  libraryId: string,
  resourceId: string,
  signal: AbortSignal,
): Promise<PollResult | PollFailure> {
  try {
    const resource = await client.pollResource(libraryId, resourceId, signal)
    const outcome = ingestionOutcome(resource.ingestion_status)
    const status = describeStatus(resource.ingestion_status)
    const note = readNote(resource)
    return { outcome, status, note, problem: describeEnd(outcome, status, note) }
  } catch (error) {
    if (isNotFound(error)) return { outcome: 'failed', status: null, note: null, problem: error.message }
    if (!(error instanceof ShelfdError) || !reactToFailure(error).mayBeItem) throw error
    return { error }
  }
}

function describeStatus(status: unknown): string {
  if (status === undefined) return 'missing'
  if (typeof status === 'object' && status !== null) return '(not a text)'
  return truncateText(escapeText(String(status)), 64)
}

function describeEnd(outcome: IngestionOutcome, status: string, note: string | null): string | null {
  if (outcome === 'pending' || outcome === 'searchable') return null
  const end = outcome === 'unknown' ? `unknown ingestion state ${status}` : `ingestion ended ${status}`
  return note === null ? end : `${end}: ${note}`
}

/** Returns the service's remark beside the status, bounded and escaped; null if it has none. */
function readNote(resource: ResourceRecord): string | null {
  const { text_extracted: textExtracted, ingestion_warnings: warnings = [], ingestion_error: error = null } = resource
  const note = remarkOf({ textExtracted, warnings, error })
  return note === null ? null : truncateText(escapeText(note), MAX_NOTE)
}

type FollowedPoll = PollResult & {
  readonly followed: FollowedResource
  /** True if the answer came from the ledger, so it is not reported there again. */
  readonly isShared?: boolean
}

/** The least interval between two writes for a pending resource whose status has not changed. */
const WRITE_SEEN_MS = 30_000

/** Writes the results to the store; returns when failed resources are due again (wall clock). */
function recordPolls(engine: Engine, polls: readonly FollowedPoll[]): number[] {
  const ended = polls.filter(({ outcome }) => outcome !== 'pending')
  const seen = polls.filter((poll) => mustWriteSeen(engine, poll))
  if (ended.length + seen.length === 0) return []
  // Relaxed, because resources that a power cut turns back to pending are polled again.
  return engine.store.writeRelaxed(() => {
    for (const poll of seen) recordSeen(engine, poll)
    return ended.flatMap((poll) => recordEnd(engine, poll))
  })
}

/** Records a resource that cannot be polled; returns when it is due again (wall clock). */
function recordPollFailure(
  engine: Engine,
  { contentId, resourceId }: FollowedResource,
  { code, message }: ShelfdError,
): number {
  const { store, logger } = engine
  const retryAt = quarantineUntil(engine, contentId, code)
  store.write(() => store.contents.setProblem(contentId, { code, message, retryAt }))
  logger.warn('cannot poll a resource in ingestion; it is polled again later', { resourceId, code, reason: message })
  return retryAt
}

function mustWriteSeen({ clock }: Engine, { followed, outcome, status }: FollowedPoll): boolean {
  const isOld = clock.monotonicMs() - followed.writtenMs >= WRITE_SEEN_MS
  return outcome === 'pending' && (isOld || status !== followed.writtenStatus)
}

function recordSeen({ store, clock }: Engine, { followed, status }: FollowedPoll): void {
  store.contents.setIngestionSeen(followed.contentId, status, clock.nowMs())
  if (followed.hasProblem === 1) store.contents.clearPollProblem(followed.contentId)
  followed.hasProblem = 0
  followed.writtenMs = clock.monotonicMs()
  followed.writtenStatus = status
}

function recordEnd(engine: Engine, poll: FollowedPoll): number[] {
  const { followed, outcome, status, note, problem, isShared } = poll
  const { store, clock, progress, metrics } = engine
  const nowMs = clock.nowMs()
  const searchableAt = outcome === 'searchable' ? (followed.searchableAt ?? nowMs) : null
  store.contents.setIngestion(followed.contentId, { status, outcome, searchableAt, note, seenAt: nowMs })
  if (!isShared) store.settlements.addDecided(followed.contentId, 'outcome')
  if (outcome === 'searchable') {
    if (note !== WITHOUT_TEXT) progress.searchable += 1
    if (followed.searchableAt === null) metrics.searchableAfter(Math.max(0, nowMs - followed.uploadedAt))
  }
  if (problem === null) {
    store.contents.setProblem(followed.contentId, null)
    return []
  }
  const code = outcome === 'unknown' ? 'ingestion-unknown' : `ingestion-${outcome}`
  const retryAt = needsPassword(note) ? null : quarantineUntil(engine, followed.contentId, code)
  store.contents.setProblem(followed.contentId, { code, message: problem, retryAt })
  return retryAt === null ? [] : [retryAt]
}
