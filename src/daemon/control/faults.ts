import { messageOf, RejectedError, rebuildError, ShelfdError } from '../../foundation/errors.ts'
import type { Fault } from './protocol.ts'

/** What of an error goes over the line. */
export function faultOf(error: unknown): Fault {
  const message = messageOf(error)
  if (error instanceof RejectedError) return { code: error.code, message, status: error.status }
  return { code: error instanceof ShelfdError ? codeOf(error) : 'unexpected', message }
}

/** The error it was, in its class. */
export function errorOf({ code, message, status }: Fault): Error {
  return rebuildError(code, message, status)
}

function codeOf(error: ShelfdError): string {
  return error.code
}
