import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { ConnectionBound } from '../../foundation/connection-bound.ts'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import { type Answering, ControlConnection } from './connection.ts'
import { removeSocket, writeSocketNote } from './socket-note.ts'
import { closeToOthers, type Environment, prepareSocketPlace } from './socket-place.ts'

export interface ControlServerInput extends Answering {
  /** Held by this process: nobody else can be listening for it. */
  readonly stateDir: string
  /** For `RUNTIME_DIRECTORY` and `XDG_RUNTIME_DIR`. */
  readonly env: Environment
  /** How long a client may take to send its request. */
  readonly requestWithinMs?: number
}

/** The daemon's control socket; disposing stops what runs for clients, tells them so, and removes the socket. */
export interface ControlServer extends AsyncDisposable {
  readonly path: string
}

/** Clients get so long to read their last answer. */
const CLOSING_GRACE_MS = 1_000
const MAX_CONNECTIONS = 64
const REQUEST_WITHIN_MS = 10_000

/** Listens for clients of this state directory. Throws when there is no place for the socket. */
export async function startControlServer(input: ControlServerInput): Promise<ControlServer> {
  const { path, passedOver } = prepareSocketPlace(input.stateDir, input.env)
  for (const reason of passedOver) input.logger.info('control socket: passed over a directory', { reason })
  const connections = new Set<ControlConnection>()
  const bound = new ConnectionBound(MAX_CONNECTIONS)
  const server = createServer((socket) => void accept(socket, input, { connections, bound }))
  await listen(server, path)
  server.on('error', (error) => input.logger.warn('control socket failed', { reason: messageOf(error) }))
  writeSocketNote(input.stateDir, path)
  return { path, [Symbol.asyncDispose]: () => close(server, connections, () => removeSocket(input.stateDir, path)) }
}

async function listen(server: Server, path: string): Promise<void> {
  const isListening = once(server, 'listening')
  server.listen(path)
  await isListening
  closeToOthers(path)
}

interface Accepted {
  readonly connections: Set<ControlConnection>
  readonly bound: ConnectionBound
}

async function accept(socket: Socket, input: ControlServerInput, { connections, bound }: Accepted): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), input.requestWithinMs ?? REQUEST_WITHIN_MS)
  const onRequest = () => {
    clearTimeout(timer)
    bound.noteRequest(socket)
  }
  bound.admit(socket)
  const connection = new ControlConnection(socket, input, onRequest)
  connections.add(connection)
  await connection.serve()
  clearTimeout(timer)
  connections.delete(connection)
}

async function close(server: Server, connections: Iterable<ControlConnection>, remove: () => void): Promise<void> {
  const isClosed = once(server, 'close')
  server.close()
  remove()
  const open = [...connections]
  for (const connection of open) connection.stop(new InterruptedError('The daemon stops'))
  await Promise.all(open.map((connection) => connection.answered))
  const timer = setTimeout(() => open.forEach((connection) => void connection.destroy()), CLOSING_GRACE_MS)
  await isClosed
  clearTimeout(timer)
}
