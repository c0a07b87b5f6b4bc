import type { ShelfdError } from '../../foundation/errors.ts'
import { WITHOUT_TEXT } from '../../rules/without-text.ts'
import type { Engine } from '../engine.ts'
import { quarantineUntil } from '../quarantine.ts'
import type { PollAnswer } from './poll-resource.ts'
import type { FollowedResource } from './poll-schedule.ts'

/** What a poll of a resource found. */
export type Answer = PollAnswer & { readonly followed: FollowedResource }

/** The least interval between two writes for a pending resource whose status has not changed. */
const WRITE_SEEN_MS = 30_000

/** Records in the store what polls found. */
export class PollRecorder {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Records the answers of one round. Returns when resources that ended badly are due again (wall clock). */
  recordAnswers(answers: readonly Answer[]): number[] {
    const { store } = this.#engine
    const ended = answers.filter(({ outcome }) => outcome !== 'pending')
    const seen = answers.filter((answer) => this.#isNews(answer))
    if (ended.length + seen.length === 0) return []
    const looks: number[] = []
    // Relaxed, because resources that a power cut turns back to pending are polled again.
    store.writeRelaxed(() => {
      for (const answer of ended) looks.push(...this.#recordEnd(answer))
      for (const answer of seen) this.#recordSeen(answer)
    })
    return looks
  }

  /** Quarantines a resource that could not be polled again and again. Returns when it is due again (wall clock). */
  recordFailure({ contentId, resourceId }: FollowedResource, { code, message }: ShelfdError): number {
    const { store, logger } = this.#engine
    const retryAt = quarantineUntil(this.#engine, contentId, code)
    store.write(() => store.contents.setProblem(contentId, { code, message, retryAt }))
    logger.warn('cannot poll a resource in ingestion; it is polled again later', { resourceId, code, reason: message })
    return retryAt
  }

  #isNews({ followed, outcome, status }: Answer): boolean {
    if (outcome !== 'pending') return false
    const isOld = this.#engine.clock.monotonicMs() - followed.writtenMs >= WRITE_SEEN_MS
    return isOld || status !== followed.writtenStatus
  }

  #recordSeen({ followed, status }: Answer): void {
    const { store, clock } = this.#engine
    store.contents.setIngestionSeen(followed.contentId, status, clock.nowMs())
    if (followed.hasProblem === 1) store.contents.clearPollProblem(followed.contentId)
    followed.hasProblem = 0
    followed.writtenMs = clock.monotonicMs()
    followed.writtenStatus = status
  }

  #recordEnd({ followed, outcome, status, note, problem }: Answer): number[] {
    const { store, clock, progress, metrics } = this.#engine
    const nowMs = clock.nowMs()
    const searchableAt = outcome === 'searchable' ? nowMs : null
    store.contents.setIngestion(followed.contentId, { status, outcome, searchableAt, note, seenAt: nowMs })
    if (outcome === 'searchable') {
      if (note !== WITHOUT_TEXT) progress.searchable += 1
      metrics.searchableAfter(Math.max(0, nowMs - followed.uploadedAt))
    }
    if (problem === null) {
      store.contents.setProblem(followed.contentId, null)
      return []
    }
    const code = outcome === 'unknown' ? 'ingestion-unknown' : `ingestion-${outcome}`
    const retryAt = quarantineUntil(this.#engine, followed.contentId, code)
    store.contents.setProblem(followed.contentId, { code, message: problem, retryAt })
    return [retryAt]
  }
}
