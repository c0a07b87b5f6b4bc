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

/** Tells people elsewhere of this host's mirrors, what changed and at most once a minute. It never throws: nobody's work depends on it. */
export class Publication {
  readonly #context: PublicationContext
  readonly #read: (() => Promise<Published>) | undefined
  /** The session in which something was told, and what, as text by part. */
  #told: { readonly session: bigint; readonly parts: Readonly<Record<keyof Published, string>> } | undefined
  #lastMs = Number.NEGATIVE_INFINITY
  #running: Promise<void> | undefined

  /** `read`: returns what to tell; undefined: nothing. */
  constructor(context: PublicationContext, read: (() => Promise<Published>) | undefined) {
    this.#context = context
    this.#read = read
  }

  /** Tells what changed, unless it told something a moment ago. */
  async tellNowAndThen(session: Session): Promise<void> {
    if (this.#context.clock.monotonicMs() - this.#lastMs >= MINUTE_MS) await this.tell(session)
  }

  /** Tells what changed. */
  async tell(session: Session): Promise<void> {
    this.#lastMs = this.#context.clock.monotonicMs()
    await this.#running
    this.#running = this.#tell(session).catch((error: unknown) => {
      this.#context.logger.warn('cannot tell the other hosts of the state of the mirrors', { reason: messageOf(error) })
    })
    await this.#running
  }

  async #tell({ ledger, session }: Session): Promise<void> {
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
    const told = this.#told?.session === session ? this.#told.parts : undefined
    const isTold = (part: keyof Published) => told?.[part] === parts[part]
    if (isTold('sentInDay') && isTold('mirrors') && isTold('problems') && isTold('runs')) return
    await ledger.publish(session, {
      ...{ sentInDay, mirrors },
      problems: isTold('problems') ? undefined : problems,
      runs: isTold('runs') ? undefined : runs,
    })
    this.#told = { session, parts }
  }
}
