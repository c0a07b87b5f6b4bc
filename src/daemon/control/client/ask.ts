import type { IncomingMessage } from 'node:http'
import { createConnection } from 'node:net'
import type { z } from 'zod'
import { messageOf, ShelfdError, systemCodeOf, TemporaryError } from '../../../foundation/errors.ts'
import { errorOf, faultBody } from '../../../foundation/http/fault.ts'
import { openRequest } from '../../../foundation/http/node-http.ts'

export interface DaemonRequest {
  readonly socketPath: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly input?: object
  /** The daemon must accept the request in this time; the response may take any time. */
  readonly aliveWithinMs?: number | undefined
}

/** Large, because the result of a run names every problem. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024
const ALIVE_WITHIN_MS = 10_000

/** Rethrows the daemon's error in its class. */
export async function ask<T>(shape: z.ZodType<T>, request: DaemonRequest): Promise<T> {
  for await (const line of readLines(await openResponse(request))) return readAs(shape, line)
  // An answer without content.
  return readAs(shape, undefined)
}

/** Leaving the loop closes the connection. */
export async function* askLines<T>(shape: z.ZodType<T>, request: DaemonRequest): AsyncGenerator<T> {
  for await (const line of readLines(await openResponse(request))) yield readAs(shape, line)
}

/** Sends the body only after `100 Continue`, so that a stopped daemon is noticed soon and has received nothing. */
async function openResponse(request: DaemonRequest): Promise<IncomingMessage> {
  const { socketPath, method, path, input, aliveWithinMs = ALIVE_WITHIN_MS } = request
  const body = input === undefined ? '' : JSON.stringify(input)
  const headers = { expect: '100-continue', 'content-length': Buffer.byteLength(body) }
  const outgoing = openRequest({ createConnection: () => createConnection(socketPath), method, path, headers })
  const timer = setTimeout(() => outgoing.destroy(isSilent(aliveWithinMs)), aliveWithinMs)
  // The reader of the answer gets every error; without this listener a late one would end the process.
  outgoing.on('error', () => {})
  outgoing.once('continue', () => {
    clearTimeout(timer)
    outgoing.end(body)
  })
  outgoing.flushHeaders()
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject)
    })
    if (answer.statusCode !== 200 && answer.statusCode !== 204) throw await readError(answer)
    return answer
  } catch (error) {
    throw explain(error)
  } finally {
    clearTimeout(timer)
  }
}

async function readError(answer: IncomingMessage): Promise<Error> {
  for await (const line of readLines(answer)) return errorOf(readAs(faultBody, line).error)
  return notUnderstood()
}

/** Keeps one line in memory. */
async function* readLines(answer: IncomingMessage): AsyncGenerator<string> {
  let line = ''
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      const [end = '', ...next] = String(chunk).split('\n')
      line += end
      for (const start of next) {
        yield line
        line = start
      }
      if (line.length > MAX_LINE_CHARACTERS) throw notUnderstood()
    }
  } catch (error) {
    throw explain(error)
  }
}

function readAs<T>(shape: z.ZodType<T>, json: string | undefined): T {
  const { success, data } = shape.safeParse(json === undefined ? undefined : parseJson(json))
  if (!success) throw notUnderstood()
  return data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function explain(error: unknown): unknown {
  if (error instanceof ShelfdError) return error
  const code = systemCodeOf(error)
  if (code === undefined) return error
  return code.startsWith('HPE_') ? notUnderstood() : hasEnded(error)
}

function notUnderstood(): TemporaryError {
  const text = 'Cannot read the answer of the daemon: it runs another version of shelfd; restart it'
  return new TemporaryError('answer-malformed', text)
}

function isSilent(withinMs: number): TemporaryError {
  const text = `The daemon gave no answer within ${withinMs / 1_000} s: its process is suspended, or the machine is overloaded`
  return new TemporaryError('answer-late', text)
}

export function hasEnded(error?: unknown): TemporaryError {
  const why = error === undefined ? '' : ` (${messageOf(error)})`
  return new TemporaryError('service-unreachable', `The daemon ended before it answered${why}; run the command again`)
}
