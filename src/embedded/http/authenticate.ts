import type { FastifyRequest } from 'fastify'
import { type Grant, readGrant } from '../access/grant.ts'
import type { Service } from '../service.ts'
import { unauthorized } from './api-error.ts'

const EXPLANATIONS = {
  unknown: 'The credential is not valid',
  revoked: 'The credential has been revoked',
  expired: 'The credential has expired',
} as const

/** Returns the grant of the request's bearer token, undefined when it has no token. Throws 401 for an invalid token (section 5). */
export function authenticate(service: Service, request: FastifyRequest): Grant | undefined {
  const header = request.headers.authorization
  if (header === undefined) return undefined
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  const grant = token === undefined ? 'unknown' : readGrant(service.tables.tokens, token, service.clock.nowMs())
  if (typeof grant === 'string') throw unauthorized(EXPLANATIONS[grant])
  return grant
}
