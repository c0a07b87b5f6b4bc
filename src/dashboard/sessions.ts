import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../foundation/clock.ts'
import { HOUR_MS } from '../foundation/text/times.ts'

const KEY_LIFE_MS = 5 * 60_000
const IDLE_LIFE_MS = 12 * HOUR_MS
/** The oldest goes when there are more. */
const MAX_SESSIONS = 32

/**
 * One-time keys and the sessions that they open, in memory: they end with the process. Keys and tokens are looked up by their
 * digest, so that the time of a response says nothing about them.
 */
export class Sessions {
  readonly #clock: Clock
  /** The time at which each ends, by the digest of its key or token. */
  readonly #keys = new Map<string, number>()
  readonly #tokens = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A key that opens one session within five minutes. */
  createKey(): string {
    return this.#create(this.#keys, KEY_LIFE_MS)
  }

  /** Returns the token of a new session; undefined unless the key is new and in time. */
  redeem(key: string): string | undefined {
    const digest = digestOf(key)
    const endMs = this.#keys.get(digest) ?? 0
    this.#keys.delete(digest)
    return endMs > this.#clock.monotonicMs() ? this.#create(this.#tokens, IDLE_LIFE_MS) : undefined
  }

  /** Returns whether a token is that of a session, which then lasts twelve hours more. */
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
