/** What befalls requests: at random for each, and for some contents and resources always. */
import { seededRandom, seedOf } from '../../support/random.ts'
import { json, type Reply } from './service.ts'

/** A fault of one exchange. `isStored`: the service did what was asked before it. */
export type Fault =
  | { readonly kind: 'refused' }
  /** The connection breaks after some chunks of the body, or before the answer. */
  | { readonly kind: 'reset'; readonly isStored: boolean }
  | { readonly kind: 'silence'; readonly isStored: boolean }
  | { readonly kind: 'answer'; readonly isStored: boolean; readonly reply: Reply }
  /** The answer's JSON is cut. */
  | { readonly kind: 'cut'; readonly isStored: boolean }

export interface FaultProfile {
  /** Share of requests that something befalls at random. */
  readonly share: number
  /** Share of uploads whose connection breaks before the answer, half of them after the service has stored the file. */
  readonly lostShare: number
  /** Share of contents, resources and listings to which the same happens each time. */
  readonly alwaysShare: number
  /** Share of resources that listings show late. */
  readonly lateShare: number
  /** Share of resources whose processing ends badly. */
  readonly badShare: number
}

export const CALM: FaultProfile = { share: 0, lostShare: 0, alwaysShare: 0, lateShare: 0, badShare: 0 }

const HTML: Reply = { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<html>Sign in</html>') }

function redirect(status: number): Reply {
  return { status, headers: { location: 'https://elsewhere.example/' }, body: Buffer.alloc(0) }
}

function empty(status: number): Reply {
  return { status, headers: {}, body: Buffer.alloc(0) }
}

export const THROTTLED: Reply = { ...json(429, { message: 'slow down' }), headers: { 'retry-after': '7' } }
const UNAVAILABLE: Reply = { ...json(503, { message: 'away' }), headers: { 'retry-after': '3' } }

/** Answers of a busy or absent service concern the whole service, not one thing. */
const OF_ALL: readonly Fault[] = [
  { kind: 'refused' },
  { kind: 'refused' },
  { kind: 'answer', isStored: false, reply: THROTTLED },
  { kind: 'answer', isStored: false, reply: UNAVAILABLE },
]

const BEFORE: readonly Fault[] = [
  ...OF_ALL,
  { kind: 'reset', isStored: false },
  { kind: 'silence', isStored: false },
  { kind: 'answer', isStored: false, reply: json(500, { message: 'broken' }) },
  { kind: 'answer', isStored: false, reply: json(502, { message: 'no gateway' }) },
  { kind: 'answer', isStored: false, reply: HTML },
]

const AFTER: readonly Fault[] = [
  { kind: 'reset', isStored: true },
  { kind: 'silence', isStored: true },
  { kind: 'cut', isStored: true },
  { kind: 'answer', isStored: true, reply: json(500, { message: 'broken' }) },
  { kind: 'answer', isStored: true, reply: json(201, { id: '' }) },
  { kind: 'answer', isStored: true, reply: json(202, {}) },
  { kind: 'answer', isStored: true, reply: empty(204) },
  { kind: 'answer', isStored: true, reply: redirect(307) },
]

const REFUSAL: Fault = {
  kind: 'answer',
  isStored: false,
  reply: json(422, { message: 'no', errors: { file: ['bad'] } }),
}

/** What only one upload, resource or directory meets, each time. */
const ALWAYS: readonly Fault[] = [
  ...BEFORE.slice(OF_ALL.length),
  ...AFTER,
  { kind: 'answer', isStored: false, reply: json(403, { message: 'not this one' }) },
  { kind: 'answer', isStored: false, reply: json(409, { message: 'conflict' }) },
  { kind: 'answer', isStored: false, reply: json(413, { message: 'too large' }) },
  REFUSAL,
  { kind: 'answer', isStored: false, reply: json(201, { id: null }) },
  { kind: 'answer', isStored: false, reply: json(200, { id: { toString: 'x' } }) },
]

export class Faults {
  profile: FaultProfile
  /** Hashes of contents that the service refuses for certain. */
  refused: ReadonlySet<string> = new Set()
  readonly #seed: number
  readonly #alwaysShare: number
  readonly #counts = new Map<string, number>()

  constructor(seed: number, profile: FaultProfile) {
    this.#seed = seed
    this.profile = profile
    this.#alwaysShare = profile.alwaysShare
  }

  /**
   * Returns what happens to a request; `subject` names the content, resource or directory it is about. The same for the same seed,
   * independent of the order of requests.
   */
  decide(route: string, subject: string): Fault | undefined {
    const { share, lostShare } = this.profile
    if (route === 'uploadFile' && this.refused.has(subject.slice(0, subject.indexOf(' ')))) return REFUSAL
    const always = this.#always(route, subject)
    if (always && this.profile.alwaysShare > 0) return always
    const key = `${route} ${subject}`
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    const random = seededRandom(this.#seed ^ seedOf(`${key} ${count}`))
    if (route === 'uploadFile' && lostShare > 0 && random() < lostShare)
      return { kind: 'reset', isStored: random() < 0.5 }
    if (random() >= share) return undefined
    return pick(route === 'uploadFile' && random() < 0.6 ? AFTER : BEFORE, random())
  }

  /** The same befalls this subject each time, until all is healed. */
  isAlways(route: string, subject: string): boolean {
    return this.#always(route, subject) !== undefined
  }

  /** The service answers each time that it will not give this subject, or gives something else in its place. */
  isRefusedAlways(route: string, subject: string): boolean {
    const fault = this.#always(route, subject)
    if (fault?.kind !== 'answer' || fault.reply === HTML) return false
    const { status } = fault.reply
    return status === 200 || (status >= 300 && status < 500)
  }

  #always(route: string, subject: string): Fault | undefined {
    if (!OF_ITEMS.includes(route)) return undefined
    const random = seededRandom(this.#seed ^ seedOf(`always ${route} ${subject}`))
    return random() < this.#alwaysShare ? pick(ALWAYS, random()) : undefined
  }
}

/** Requests about one thing, which may be bad alone. */
const OF_ITEMS: readonly string[] = ['uploadFile', 'showResource', 'downloadResource', 'createDirectory']

function pick(faults: readonly Fault[], at: number): Fault | undefined {
  return faults[Math.floor(at * faults.length)]
}
