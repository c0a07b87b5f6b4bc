import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { ZodError } from 'zod'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { isDiskFull } from '../../foundation/sqlite/open-database.ts'
import { ApiError } from '../http/api-error.ts'
import { MalformedFormError } from '../http/multipart-parser.ts'

/** Responses to bytes that are not an HTTP request, by the code of Node's error. */
const UNREADABLE: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The headers of the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'The headers of the request are too long'],
}

/** Gives every error response the JSON body that the interface's section *Errors* describes. */
export function answerErrorsAsJson(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error, { method, routeOptions: { url: route } }, reply) =>
    sendError(reply, explainError(error, logger, { method, route })),
  )
}

/** Returns the error response for an error of a handler, and logs it if it is a fault of the service (5xx). */
export function explainError(
  error: unknown,
  logger: Logger,
  asked: { readonly method: string; readonly route: string | undefined },
): ApiError {
  const answer = toApiError(error)
  if (answer.status >= 500) {
    const thrown = error instanceof Error ? error.stack : messageOf(error)
    logger.error('A request failed unexpectedly', { ...asked, error: thrown })
  }
  return answer
}

/** Answers bytes that are not an HTTP request, and closes their connection. */
export function answerUnreadable(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] = UNREADABLE[error.code ?? ''] ?? [400, 'The request is not valid HTTP']
  const body = JSON.stringify({ message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  if (error.status === 401) reply.header('www-authenticate', 'Bearer realm="library"')
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error)))
}

export function errorBody({ message, errors }: ApiError): object {
  return errors ? { message, errors } : { message }
}

/** Returns the error response for anything that was thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof ZodError) return validationError(error)
  if (error instanceof MalformedFormError) return new ApiError(422, error.message, { body: [error.message] })
  if (isDiskFull(error)) return new ApiError(507, 'The disk of the library is full')
  return (error instanceof Error ? frameworkError(error) : undefined) ?? new ApiError(500, 'Internal error')
}

function validationError(error: ZodError): ApiError {
  const errors: Record<string, string[]> = {}
  for (const issue of error.issues) {
    const field = issue.path.map(String).join('.') || 'body'
    errors[field] = [...(errors[field] ?? []), issue.message]
  }
  return new ApiError(422, 'The request is not valid', errors)
}

/** Translates an error that fastify throws before a handler runs; one about the body becomes 422. Returns undefined for other errors. */
function frameworkError(error: Error & Partial<FastifyError>): ApiError | undefined {
  const { statusCode, code, message } = error
  if (code === 'FST_ERR_BAD_URL') return new ApiError(404, 'The path is not a percent-encoded URL path')
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return undefined
  const isAboutBody = statusCode === 400 && (code?.startsWith('FST_ERR_CTP') || error instanceof SyntaxError)
  return isAboutBody ? new ApiError(422, message, { body: [message] }) : new ApiError(statusCode, message)
}
