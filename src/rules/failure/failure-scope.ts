import type { ErrorCode, Reaction } from '../../foundation/errors.ts'

/**
 * What a failed request affects: `item`, only the requested item; `service`, every other request as well; `unclear`,
 * either: a further request for no particular item decides.
 */
export type FailureScope = 'item' | 'service' | 'unclear'

/** Failed answers that the requested item or the service may have caused. */
const UNCLEAR: ReadonlySet<ErrorCode> = new Set([
  'service-error',
  'service-unavailable',
  'answer-malformed',
  'answer-late',
  'right-missing',
  'redirect-refused',
])

/** Refusals that affect every mirror: of the credential or of the connection. */
const OF_ALL: ReadonlySet<ErrorCode> = new Set([
  'credential-missing',
  'credential-refused',
  'certificate-refused',
  'redirect-refused',
  'proxy-refused',
])

/** Whether an error concerns one mirror only (its root, pins, guards or rights), so that the others continue. */
export function concernsOneMirror({
  reaction,
  code,
}: {
  readonly reaction: Reaction
  readonly code: ErrorCode
}): boolean {
  if (reaction === 'refused') return !OF_ALL.has(code)
  if (reaction === 'heldBack') return code !== 'limit-reached'
  return reaction === 'root' || reaction === 'usage' || reaction === 'rejected'
}

/** `wasReached`: a connection existed, which the requested item may have broken. */
export function failureScope({
  reaction,
  code,
  wasReached = false,
}: {
  readonly reaction: Reaction
  readonly code: ErrorCode
  readonly wasReached?: boolean
}): FailureScope {
  if (reaction === 'rejected') return 'item'
  return UNCLEAR.has(code) || (code === 'service-unreachable' && wasReached) ? 'unclear' : 'service'
}
