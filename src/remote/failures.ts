import {
  type CodeOf,
  DoubtError,
  InterruptedError,
  RefusedError,
  systemCodeOf,
  TemporaryError,
} from '../foundation/errors.ts'
import { escapeText, truncateText } from '../foundation/text.ts'
import type { ServiceRequest } from './request.ts'

export interface SetbackFacts {
  readonly code: Exclude<CodeOf<'temporary'>, 'disk-full'>
  readonly reason: string
  /** The service may have done what was asked. */
  readonly mayBeDone: boolean
  /** A connection was made. */
  readonly reached: boolean
  readonly retryAfterMs?: number | undefined
  /** Another try would end the same. */
  readonly final?: boolean
}

/** A failed try that another one may mend; the retrying decorator turns the last one into an error of the family. */
export class Setback extends Error {
  readonly facts: SetbackFacts

  constructor(facts: SetbackFacts) {
    super(facts.reason)
    this.facts = facts
  }
}

/** `Cannot upload "a.md": the service answered 413 (too large)`. */
export function cannot(request: Pick<ServiceRequest<unknown>, 'verb' | 'subject'>, reason: string): string {
  const subject = request.subject === undefined ? '' : ` "${escapeText(truncateText(request.subject, 300))}"`
  return `Cannot ${request.verb}${subject}: ${reason}`
}

/** What a setback ends as when it isn't tried again. */
export function finalError(request: ServiceRequest<unknown>, facts: SetbackFacts, tries: number): Error {
  const reason = tries > 1 ? `${facts.reason}, ${tries} times` : facts.reason
  if (facts.mayBeDone && request.body?.kind === 'file') {
    return new DoubtError(cannot(request, reason), facts.code)
  }
  return new TemporaryError(facts.code, cannot(request, reason))
}

/** What an abort ends as. */
export function interruption(request: ServiceRequest<unknown>, mayBeDone: boolean): Error {
  if (!mayBeDone || request.body?.kind !== 'file') return new InterruptedError()
  return new DoubtError(cannot(request, 'interrupted'), 'interrupted')
}

export function interruptIfAborted(request: ServiceRequest<unknown>): void {
  if (request.signal?.aborted) throw interruption(request, false)
}

const CERTIFICATE =
  /^(?:CERT_|CRL_|ERROR_IN_C|ERR_TLS_CERT|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)|DEPTH_ZERO|SELF_SIGNED|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH)/

/** What undici reported, as what it means. Nothing of the error itself is kept: it may hold bytes of the answer. */
export function networkError(
  request: ServiceRequest<unknown>,
  thrown: unknown,
  state: { readonly reached: boolean; readonly mayBeDone: boolean },
): Error {
  const code = systemCodeOf(thrown) ?? 'unknown error'
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED') return interruption(request, state.mayBeDone)
  if (CERTIFICATE.test(code)) {
    return new RefusedError(
      'certificate-refused',
      cannot(request, `the service's certificate is not trusted (${code})`),
    )
  }
  if (thrown instanceof Error && thrown.name === 'HTTPParserError') {
    return new Setback({ ...state, code: 'answer-malformed', reason: 'the answer is not HTTP' })
  }
  const what = state.reached ? 'the connection to the service broke' : 'the service cannot be reached'
  return new Setback({ ...state, code: 'service-unreachable', reason: `${what} (${code})` })
}
