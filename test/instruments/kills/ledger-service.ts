import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/foundation/clock.ts'
import {
  json,
  type Reply,
  type Resource,
  readMultipart,
  routeOf,
  type ServiceRequest,
  SimulatedService,
} from '../simulation/service.ts'
import type { ServiceMoment } from './crash-points.ts'

/** The service of the simulation over HTTP, with an account of what it was asked. Bytes that are sent twice are stored twice. */
export interface LedgerService extends AsyncDisposable {
  readonly url: string
  /** Called at each moment, before what follows. */
  onMoment: (moment: ServiceMoment) => void
  /** Called with the file name when the first bytes of an upload are here. */
  onUploadBegun: (fileName: string) => void
  /** Share of uploads that are stored and whose answer is lost. */
  lostResponses: number
  /** The longest time between the first bytes of an upload and the rest of it, which is drawn. */
  longestUploadMs: number
  readonly stored: readonly Resource[]
  /** Library paths that were created. */
  readonly directories: ReadonlyMap<string, number>
  /** What no shelfd may ask, by method and path. */
  readonly strays: readonly string[]
  /** Uploads and directories asked for so far. */
  readonly changesAsked: number
  /** Resolves when no request is under way: what a killed process sent has arrived, or never will. */
  settled(): Promise<void>
}

/** When a request is whole, when what it asks for was done, and when its answer was sent. */
const MOMENTS: Partial<Record<ServiceRequest['route'], Partial<Record<'asked' | 'done' | 'answered', ServiceMoment>>>> =
  {
    checkAccess: { asked: 'access asked' },
    listDirectory: { asked: 'listing asked' },
    createDirectory: { asked: 'directory asked', done: 'directory made', answered: 'directory answered' },
    uploadFile: { asked: 'upload whole', done: 'upload stored', answered: 'upload answered' },
    showResource: { asked: 'resource asked', answered: 'resource answered' },
    downloadResource: { asked: 'download asked' },
  }

/** So that some resources are polled more than once. */
const MAX_INGESTION_MS = 15

/** Starts the service on loopback, empty. */
export async function startLedgerService(random: Random): Promise<LedgerService> {
  const library = new SimulatedService({
    hasDuplicateRule: false,
    hasDirectoryField: false,
    pageSize: 500,
    nowMs: Date.now,
    fateOf: () => ({ listedMs: 0, finalMs: Date.now() + random() * MAX_INGESTION_MS, finalStatus: 'completed' }),
    onOrphan: (path) => strays.push(`the directory ${path} without its parent`),
  })
  const strays: string[] = []
  let underWay = 0
  let changesAsked = 0
  const waiting: (() => void)[] = []

  const server = createServer((request, response) => {
    underWay += 1
    response.once('close', () => {
      underWay -= 1
      if (underWay === 0) for (const resolve of waiting.splice(0)) resolve()
    })
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const routed = routeOf(method, url)
    const { asked, done, answered } = MOMENTS[routed.route] ?? {}
    const isUpload = routed.route === 'uploadFile'
    if (isUpload || routed.route === 'createDirectory') changesAsked += 1
    const contentType = headers['content-type'] ?? ''
    const first = isUpload ? await firstBytes(request) : Buffer.alloc(0)
    if (isUpload) {
      service.onUploadBegun(readMultipart(contentType, first).fileName)
      service.onMoment('upload begun')
      if (service.longestUploadMs > 0) await sleep(random() * service.longestUploadMs)
    }
    const body = Buffer.concat([first, await buffer(request)])
    if (asked) service.onMoment(asked)
    const form = isUpload ? { form: readMultipart(contentType, body) } : {}
    const {
      status,
      headers: shown,
      body: bytes,
    } = answer(`${method} ${url}`, { ...routed, headers: new Map(), body, ...form })
    const isDone = status < 300
    if (done && isDone) service.onMoment(done)
    if (isUpload && random() < service.lostResponses) {
      response.destroy()
      return
    }
    if (answered && isDone) response.once('finish', () => service.onMoment(answered))
    response.writeHead(status, shown).end(bytes)
  }

  function answer(asked: string, request: ServiceRequest): Reply {
    try {
      return library.answer(request)
    } catch {
      strays.push(asked)
      return json(404, { message: 'Not of the interface' })
    }
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const service: LedgerService = {
    url: `http://127.0.0.1:${port}`,
    onMoment: () => {},
    onUploadBegun: () => {},
    lostResponses: 0,
    longestUploadMs: 0,
    stored: library.resources,
    directories: library.directories,
    strays,
    get changesAsked() {
      return changesAsked
    },
    settled: () => {
      if (underWay === 0) return Promise.resolve()
      return new Promise((resolve) => waiting.push(resolve))
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return service
}

async function firstBytes(request: IncomingMessage): Promise<Buffer> {
  await new Promise((resolve, reject) => request.once('readable', resolve).once('error', reject))
  return request.read() ?? Buffer.alloc(0)
}
