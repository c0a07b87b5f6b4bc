/** The kinds of failed requests: the page asks for another token, tries again later, or only says it. */
export type FailureKind = 'credential' | 'unreachable' | 'refused'

/** A request that failed; its message is for people. */
export class ApiFailure extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export const unreachable = () =>
  new ApiFailure('unreachable', 'The library does not answer. Is its server still running? Nothing is lost; try again.')

/** Explains an answer other than success, by what the service says in its body. */
export function failureOf(status: number, body: unknown): ApiFailure {
  const said = messageIn(body)
  if (status === 401) return new ApiFailure('credential', `${said ?? 'The token is not valid'}.`)
  if (status === 403) return new ApiFailure('refused', `This is not allowed: ${said ?? 'the token lacks a right'}.`)
  if (status === 413)
    return new ApiFailure('refused', `Too large: ${said ?? 'the library takes no file of this size'}.`)
  if (status === 507) return new ApiFailure('refused', `${said ?? 'The disk of the library is full'}.`)
  if (status >= 500)
    return new ApiFailure('unreachable', `${said ?? 'The library cannot answer now'}. Try again later.`)
  return new ApiFailure('refused', said === undefined ? `The library answered with ${status}.` : `${said}.`)
}

export function describeError(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

function messageIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const said = 'detail' in body ? body.detail : 'message' in body ? body.message : undefined
  return typeof said === 'string' ? said.replace(/\.$/, '').replaceAll('credential', 'token') : undefined
}
