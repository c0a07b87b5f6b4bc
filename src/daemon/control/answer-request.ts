import { LockedError, RefusedError, RejectedError } from '../../foundation/errors.ts'
import { describeIssue } from '../../foundation/expected-of.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import { faultOf } from './faults.ts'
import type { ControlHandlers, SyncRun } from './handlers.ts'
import { type ControlRequest, controlRequest, PROTOCOL_VERSION, requestLine, type SyncRequest } from './protocol.ts'

const BAD_REQUEST = 400

interface Daemon {
  readonly service: string
  readonly handlers: ControlHandlers
}

/** Does what the first line of a client asks for and gives what it is answered; throws what becomes an `error` line. */
export async function answerRequest(line: unknown, daemon: Daemon, run: SyncRun): Promise<unknown> {
  const { handlers, service } = daemon
  const request = readRequest(line)
  switch (request.kind) {
    case 'status':
      return handlers.status()
    case 'sync':
      checkService(request, service)
      return toAnswer(await handlers.sync(request, run))
    case 'pause':
    case 'resume':
      await handlers[request.kind](request.names)
      return null
    case 'retry':
    case 'ignore':
      return handlers[request.kind](request.contentIds)
    case 'forget':
      return handlers.forget(request.name)
    case 'library':
      return request.service === service ? handlers.library() : null
    case 'reload':
      return handlers.reload()
  }
}

function readRequest(line: unknown): ControlRequest {
  const envelope = requestLine.safeParse(line)
  if (!envelope.success) throw new RejectedError('invalid', 'The request is not understood', BAD_REQUEST)
  const { version, request } = envelope.data
  if (version !== PROTOCOL_VERSION) {
    throw new LockedError('store-locked', 'The daemon is of another version of shelfd: restart it with this one')
  }
  const { success, data, error } = controlRequest.safeParse(request, { error: describeIssue })
  if (success) return data
  const [issue] = error.issues
  throw new RejectedError(
    'invalid',
    `The request is not understood: ${issue?.path.join('.')} ${issue?.message}`,
    BAD_REQUEST,
  )
}

/** The daemon would send to where the client did not mean to. */
function checkService({ service: wanted }: SyncRequest, service: string): void {
  if (wanted === service) return
  const text = `The daemon works with "${service}" and this command with "${wanted}"`
  throw new RefusedError('origin-mismatch', `${text}; restart the daemon with the same configuration`)
}

function toAnswer({ summary, outcome, failure }: RunResult) {
  return { summary, outcome, failure: failure ? faultOf(failure) : null }
}
