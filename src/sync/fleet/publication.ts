import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { MINUTE_MS } from '../../foundation/text/times.ts'
import type { Published } from '../../ledger/published.ts'
import type { Session } from './host-session.ts'

interface PublicationContext {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Publishes the state of this host's mirrors for other hosts: only changes, at most once a minute. It never throws, since no work depends
 * on it.
 */
export class Publication {
  readonly #context: PublicationContext
  readonly #read: (() => Promise<Published>) | undefined
  /** The session in which something was published, and the texts that were published. */
  #last: { readonly session: bigint; readonly parts: Readonly<Record<keyof Published, string>> } | undefined
  #lastMs = Number.NEGATIVE_INFINITY
  #running: Promise<void> | undefined

  /** `read` returns what to publish; undefined: nothing is published. */
  constructor(context: PublicationContext, read: (() => Promise<Published>) | undefined) {
    this.#context = context
    this.#read = read
  }

  /** Publishes what changed, unless it published something a moment ago. */
  async publishIfDue(session: Session): Promise<void> {
    if (this.#context.clock.monotonicMs() - this.#lastMs >= MINUTE_MS) await this.publish(session)
  }

  /** Publishes what changed. */
  async publish(session: Session): Promise<void> {
    this.#lastMs = this.#context.clock.monotonicMs()
    await this.#running
    this.#running = this.#publish(session).catch((error: unknown) => {
      this.#context.logger.warn('cannot publish the state of the mirrors for the other hosts', {
        reason: messageOf(error),
      })
    })
    await this.#running
  }

  async #publish({ ledger, session }: Session): Promise<void> {
    const published = await this.#read?.()
    if (!published) return
    const { sentInDay, mirrors, problems, runs } = published
    const parts = {
      sentInDay: String(sentInDay),
      mirrors: JSON.stringify(mirrors),
      problems: JSON.stringify(problems),
      runs: JSON.stringify(runs),
    }
    // A session that is new may be one at another ledger.
    const last = this.#last?.session === session ? this.#last.parts : undefined
    const isPublished = (part: keyof Published) => last?.[part] === parts[part]
    if (isPublished('sentInDay') && isPublished('mirrors') && isPublished('problems') && isPublished('runs')) return
    await ledger.publish(session, {
      sentInDay,
      mirrors,
      problems: isPublished('problems') ? undefined : problems,
      runs: isPublished('runs') ? undefined : runs,
    })
    this.#last = { session, parts }
  }
}
