import type { ErrorCode, Reaction } from '../foundation/errors.ts'

/**
 * What a failed request tells of: `item`, only what it asked for; `service`, every other request as well; `unclear`, either:
 * a further request that asks for nothing in particular decides.
 */
export type FailureScope = 'item' | 'service' | 'unclear'

/** Failures in the answer to one request, which may lie in what was asked for. */
const UNCLEAR: ReadonlySet<ErrorCode> = new Set([
  'service-error',
  'service-unavailable',
  'answer-malformed',
  'answer-late',
  'right-missing',
  'redirect-refused',
])

/** Refusals that hold for every mirror: the credential, and the way to the service. */
const OF_ALL: ReadonlySet<ErrorCode> = new Set([
  'credential-missing',
  'credential-refused',
  'certificate-refused',
  'redirect-refused',
  'proxy-refused',
])

/** Whether an error that ends the work on one mirror leaves the others alone: its root, its pins, its guards, its rights. */
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

/** `wasReached`: there was a connection, which may have broken because of what was asked for. */
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
