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

export function failureScope({
  reaction,
  code,
}: {
  readonly reaction: Reaction
  readonly code: ErrorCode
}): FailureScope {
  if (reaction === 'rejected') return 'item'
  return UNCLEAR.has(code) ? 'unclear' : 'service'
}
