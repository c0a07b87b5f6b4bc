import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../foundation/clock.ts'
import { HOUR_MS } from '../foundation/text/times.ts'

const KEY_LIFE_MS = 5 * 60_000
const IDLE_LIFE_MS = 12 * HOUR_MS
/** How many sessions, and how many unused keys, are kept; the oldest one is removed for a further one. */
const MAX_SESSIONS = 32

/** One-time keys and sessions, in memory only. They are looked up by digest, so that the time of a look-up reveals nothing. */
export class Sessions {
  readonly #clock: Clock
  /** The monotonic time at which a key or a session expires, by the digest of the key or token. */
  readonly #keys = new Map<string, number>()
  readonly #tokens = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns a key that opens one session within five minutes. */
  createKey(): string {
    return this.#create(this.#keys, KEY_LIFE_MS)
  }

  /** Opens a session and returns its token; undefined if the key is unknown, used or expired. */
  redeem(key: string): string | undefined {
    const digest = digestOf(key)
    const endMs = this.#keys.get(digest) ?? 0
    this.#keys.delete(digest)
    return endMs > this.#clock.monotonicMs() ? this.#create(this.#tokens, IDLE_LIFE_MS) : undefined
  }

  /** Returns whether a token belongs to an open session, which then lasts for another twelve hours. */
  isOpen(token: string): boolean {
    const digest = digestOf(token)
    if ((this.#tokens.get(digest) ?? 0) <= this.#clock.monotonicMs()) return false
    this.#tokens.set(digest, this.#clock.monotonicMs() + IDLE_LIFE_MS)
    return true
  }

  #create(entries: Map<string, number>, lifeMs: number): string {
    const secret = randomBytes(32).toString('base64url')
    entries.set(digestOf(secret), this.#clock.monotonicMs() + lifeMs)
    const [oldest] = entries.keys()
    if (entries.size > MAX_SESSIONS && oldest !== undefined) entries.delete(oldest)
    return secret
  }
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
