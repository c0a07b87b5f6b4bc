import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import type { ClientOptions } from '../../src/remote/client-options.ts'
import { createServiceClient } from '../../src/remote/create-client.ts'
import type { ServiceClient, UploadRequest } from '../../src/remote/service-client.ts'

export const TOKEN = 'canary-4f1c9b7d2e'

export interface TestServer extends AsyncDisposable {
  readonly origin: string
}

/** A loopback server with the test's answers; without a description unless the listener `describes` it. */
export async function serve(listener: RequestListener, describes = false): Promise<TestServer> {
  const server = createServer((request, response) => {
    if (!describes && request.url?.startsWith('/docs')) response.writeHead(404).end()
    else listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: originOf(server.address()), [Symbol.asyncDispose]: stop }
}

const NO_DESCRIPTION = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'

/** A loopback server below HTTP; `onRequest` receives the socket and first bytes of each request except for a description. */
export async function serveSockets(onRequest: (socket: Socket, bytes: string) => void): Promise<TestServer> {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const bytes = chunk.toString('latin1')
      if (bytes.startsWith('GET /docs')) socket.write(NO_DESCRIPTION)
      else onRequest(socket, bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: originOf(server.address()), [Symbol.asyncDispose]: stop }
}

function originOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return `http://127.0.0.1:${address.port}`
}

export interface TestClock extends Clock {
  readonly sleptMs: number[]
}

/** Time that jumps: a sleep lasts no real time and moves the clock. */
export function jumpingClock(): TestClock {
  let nowMs = Date.UTC(2030, 0, 1)
  const startMs = nowMs
  const sleptMs: number[] = []
  return {
    sleptMs,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    startTimer: systemClock.startTimer,
    async sleep(durationMs, signal) {
      signal?.throwIfAborted()
      sleptMs.push(durationMs)
      const wakeAtMs = nowMs + durationMs
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      nowMs = Math.max(nowMs, wakeAtMs)
    },
  }
}

export interface HeldClock extends Clock {
  /** Moves time, wakes the due sleepers, and lets the requests that follow on this machine happen. */
  advanceTo(monotonicMs: number): Promise<void>
  readonly sleepers: number
}

/** Time that stands until the test moves it. */
export function heldClock(): HeldClock {
  let atMs = 0
  type Sleeper = { wakeAtMs: number; wake: () => void }
  const sleeping = new Set<Sleeper>()
  const timers = new Set<Sleeper>()
  return {
    nowMs: () => Date.UTC(2030, 0, 1) + atMs,
    monotonicMs: () => atMs,
    startTimer: (durationMs, wake) => {
      const sleeper = { wakeAtMs: atMs + durationMs, wake }
      timers.add(sleeper)
      const refresh = () => {
        sleeper.wakeAtMs = atMs + durationMs
        timers.add(sleeper)
      }
      return { refresh, [Symbol.dispose]: () => void timers.delete(sleeper) }
    },
    sleep: (durationMs) =>
      new Promise((resolve) => {
        const sleeper = { wakeAtMs: atMs + durationMs, wake: resolve }
        sleeping.add(sleeper)
      }),
    get sleepers() {
      return sleeping.size
    },
    async advanceTo(monotonicMs) {
      atMs = monotonicMs
      for (const group of [sleeping, timers]) {
        for (const sleeper of group) {
          if (sleeper.wakeAtMs > atMs) continue
          group.delete(sleeper)
          sleeper.wake()
        }
      }
      await turns()
    },
  }
}

/** Enough turns of the event loop for requests on loopback to arrive and be answered. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

export function clientOf(origin: string, overrides: Partial<ClientOptions> = {}): ServiceClient & AsyncDisposable {
  const client = createServiceClient({
    origin,
    token: TOKEN,
    clock: jumpingClock(),
    random: () => 0.5,
    logger: silentLogger,
    connections: 4,
    ...overrides,
  })
  return { ...client, [Symbol.asyncDispose]: () => client.close() }
}

/** A client of a loopback server with the test's answers, which ends with it. */
export async function clientOn(
  overrides: Partial<ClientOptions>,
  listener: RequestListener,
): Promise<ServiceClient & AsyncDisposable> {
  const server = await serve(listener)
  const client = clientOf(server.origin, overrides)
  const stop = async () => {
    await client.close()
    await server[Symbol.asyncDispose]()
  }
  return { ...client, [Symbol.asyncDispose]: stop }
}

export function uploadOf(body: UploadRequest['openBody'], overrides: Partial<UploadRequest> = {}): UploadRequest {
  return {
    libraryId: 'lib',
    fileName: 'a.md',
    mime: 'text/markdown',
    sizeBytes: 5,
    directoryPath: '/docs',
    openBody: body,
    ...overrides,
  }
}

export const HELLO = () => Buffer.from('hello')

export const EMPTY_PAGE = { folders: [], files: [], limit: 500, next_cursor: null, truncated: false }

/** Collects all items of an iteration. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

/** Returns what a promise or an iteration throws. */
export async function thrownBy(work: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  try {
    if (Symbol.asyncIterator in work) for await (const _ of work);
    else await work
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
