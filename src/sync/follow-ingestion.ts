import { type IngestionOutcome, ingestionOutcome } from '../contract/states.ts'
import { Bell } from '../foundation/bell.ts'
import { RejectedError } from '../foundation/errors.ts'
import { forEachConcurrently } from '../foundation/for-each-concurrently.ts'
import { escapeText, truncateText } from '../foundation/text.ts'
import { pollPause } from '../rules/poll-pause.ts'
import { quarantinePause } from '../rules/quarantine-pause.ts'
import type { PendingResource } from '../store/contents.ts'
import type { Connection, Engine, OpenMirror } from './engine.ts'
import type { IngestionGate } from './upload.ts'

interface Followed extends PendingResource {
  polls: number
  dueMs: number
}

interface Answer {
  readonly followed: Followed
  readonly outcome: IngestionOutcome
  readonly status: string | null
  readonly problem: string | null
}

/** Resources polled in one round, and rows asked of the store at once. */
const ROUND = 256

/**
 * Polls the mirror's resources until each has a final state (interface 3.1), with growing pauses, oldest due first. What
 * is still pending when it is stopped keeps its id and is polled by a later run; nothing is ever sent again for it (P5).
 */
export class IngestionFollower implements IngestionGate {
  onRoom = () => {}
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #bell = new Bell()
  readonly #followed = new Map<number, Followed>()
  #lastSeq = 0
  #mayEnd = false
  #hasFailed = false
  #stopAtMs = Number.POSITIVE_INFINITY

  constructor(engine: Engine, mirror: OpenMirror, connection: Connection) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
  }

  ring(): void {
    this.#bell.ring()
  }

  countPending(): number {
    this.#takeNew()
    return this.#followed.size
  }

  /** No more resources will come: `run` ends when all are final, or after `waitMs`. */
  finish(waitMs: number): void {
    this.#mayEnd = true
    this.#stopAtMs = this.#engine.clock.monotonicMs() + waitMs
    this.#bell.ring()
  }

  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Follows until all is final; a failure is also told to whoever waits for room. */
  async run(): Promise<void> {
    try {
      await this.#follow()
    } catch (error) {
      this.#hasFailed = true
      this.onRoom()
      throw error
    }
  }

  async #follow(): Promise<void> {
    const { clock, signal } = this.#engine
    this.#lookAgain()
    while (!signal.aborted && clock.monotonicMs() < this.#stopAtMs) {
      this.#takeNew()
      if (this.#followed.size === 0 && this.#mayEnd) return
      const due = this.#listDue(clock.monotonicMs())
      if (due.length > 0) await this.#poll(due)
      else await this.#pause()
    }
  }

  /** What ended badly before may have been repaired since: one look, at growing pauses. */
  #lookAgain(): void {
    const { store, clock } = this.#engine
    for (const resource of store.contents.listDueForAnotherLook(this.#mirror.row.id, clock.nowMs())) {
      this.#followed.set(resource.contentId, { ...resource, polls: 0, dueMs: 0 })
    }
  }

  #takeNew(): void {
    const { store, clock, random, pollPace } = this.#engine
    for (;;) {
      const fresh = store.contents.listPending(this.#mirror.row, this.#lastSeq, ROUND)
      for (const resource of fresh) {
        const isOld = resource.uploadedAt < clock.nowMs() - pollPace.maxPollMs
        const dueMs = clock.monotonicMs() + (isOld ? 0 : pollPause(0, pollPace, random()))
        this.#followed.set(resource.contentId, { ...resource, polls: 0, dueMs })
        this.#lastSeq = resource.storedSeq
      }
      this.#engine.progress.inIngestion = this.#followed.size
      if (fresh.length < ROUND) return
    }
  }

  #listDue(nowMs: number): Followed[] {
    const due: Followed[] = []
    for (const followed of this.#followed.values()) if (followed.dueMs <= nowMs) due.push(followed)
    return due.sort((a, b) => a.dueMs - b.dueMs).slice(0, ROUND)
  }

  async #pause(): Promise<void> {
    const { clock, signal } = this.#engine
    let nextMs = this.#stopAtMs
    for (const { dueMs } of this.#followed.values()) nextMs = Math.min(nextMs, dueMs)
    const pauseMs = Math.min(60_000, Math.max(1, nextMs - clock.monotonicMs()))
    const timer = new AbortController()
    const sleep = clock.sleep(pauseMs, AbortSignal.any([signal, timer.signal])).catch(() => {})
    await Promise.race([sleep, this.#bell.wait()])
    timer.abort()
  }

  async #poll(due: readonly Followed[]): Promise<void> {
    const answers: Answer[] = []
    try {
      await forEachConcurrently(due, this.#engine.limits.checkers, async (followed) => {
        if (!this.#engine.signal.aborted) answers.push(await this.#ask(followed))
      })
    } finally {
      this.#record(answers)
    }
  }

  async #ask(followed: Followed): Promise<Answer> {
    const { client } = this.#connection
    try {
      const resource = await client.showResource(
        this.#mirror.row.library.remoteId,
        followed.resourceId,
        this.#engine.signal,
      )
      const outcome = ingestionOutcome(resource.ingestion_status)
      const status = describeStatus(resource.ingestion_status)
      const problem = outcome === 'pending' || outcome === 'searchable' ? null : `ingestion ended ${status}`
      return {
        followed,
        outcome,
        status,
        problem: outcome === 'unknown' ? `unknown ingestion state ${status}` : problem,
      }
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error
      return { followed, outcome: 'failed', status: null, problem: error.message }
    }
  }

  #record(answers: readonly Answer[]): void {
    const { store, clock } = this.#engine
    const ended = answers.filter(({ outcome }) => outcome !== 'pending')
    if (ended.length > 0) store.write(() => ended.forEach((answer) => void this.#recordEnd(answer)))
    for (const { followed, outcome } of answers) {
      if (outcome === 'pending') {
        followed.polls += 1
        followed.dueMs = clock.monotonicMs() + pollPause(followed.polls, this.#engine.pollPace, this.#engine.random())
      } else this.#followed.delete(followed.contentId)
    }
    this.#engine.progress.inIngestion = this.#followed.size
    if (ended.length > 0) this.onRoom()
  }

  #recordEnd({ followed, outcome, status, problem }: Answer): void {
    const { store, clock, progress } = this.#engine
    const nowMs = clock.nowMs()
    store.contents.setIngestion(followed.contentId, status, outcome, outcome === 'searchable' ? nowMs : null)
    if (outcome === 'searchable') progress.searchable += 1
    if (problem === null) {
      store.contents.setProblem(followed.contentId, null)
      return
    }
    const looks = store.contents.findStanding(followed.contentId)?.problemCount ?? 0
    const code = outcome === 'unknown' ? 'ingestion-unknown' : `ingestion-${outcome}`
    store.contents.setProblem(followed.contentId, {
      code,
      message: problem,
      retryAt: nowMs + quarantinePause(looks, code),
    })
  }
}

/** A status as people may read it: bounded and escaped, whatever the service sent. */
function describeStatus(status: unknown): string {
  const text = typeof status === 'string' ? status : (JSON.stringify(status) ?? 'missing')
  return truncateText(escapeText(text), 64)
}
