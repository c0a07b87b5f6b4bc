import { z } from 'zod'
import { type ErrorKind, messageOf, RequestError, rebuildError, ShelfdError } from '../errors.ts'

export const fault = z.object({ code: z.string(), message: z.string(), status: z.int().optional() })
export const faultBody = z.object({ error: fault })

export type Fault = z.infer<typeof fault>

const STATUSES = {
  usage: 400,
  root: 409,
  temporary: 503,
  access: 403,
  heldBack: 409,
  locked: 409,
  operator: 500,
  interrupted: 503,
  request: 400,
  doubt: 502,
  file: 409,
  internal: 500,
} as const satisfies Record<ErrorKind, number>

export function faultOf(error: unknown): Fault {
  const message = messageOf(error)
  if (error instanceof RequestError) return { code: error.code, message, status: error.status }
  return { code: error instanceof ShelfdError ? codeOf(error) : 'unexpected', message }
}

export function errorOf({ code, message, status }: Fault): Error {
  return rebuildError(code, message, status)
}

export function httpStatusOf(error: unknown): number {
  if (error instanceof RequestError) return error.status
  return STATUSES[error instanceof ShelfdError ? kindOf(error) : 'internal']
}

function codeOf(error: ShelfdError): string {
  return error.code
}

function kindOf(error: ShelfdError): ErrorKind {
  return error.kind
}
