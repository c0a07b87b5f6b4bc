import { randomBytes } from 'node:crypto'
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { ROUTES } from '../../src/contract/routes.ts'
import { type EmbeddedLibrary, startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { seededRandom, seedOf } from './random.ts'
import { temporaryDirectory } from './temporary.ts'
import { judgeUploads } from './upload-oracle.ts'

/** What may befall a request; the first four never reach the library. */
export const FAULTS = ['throttled', 'unavailable', 'html-error', 'reset-before', 'reset-after', 'cut-answer'] as const
/** `html-page`: 200 and a page of HTML, as a captive portal answers; never at random, since it would stop a whole run. */
export type Fault = (typeof FAULTS)[number] | 'html-page'

/** One request as the proxy saw it. */
export interface SeenRequest {
  /** A name of ROUTES, `description`, or `unknown`. */
  readonly route: string
  readonly method: string
  readonly path: string
  /** From 1: how often this very request (for uploads: this file name) came. */
  readonly attempt: number
  /** Of an upload. */
  readonly fileName: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** What befell it. */
  fault: Fault | undefined
  /** The library's own answer; undefined when it was never asked. */
  status: number | undefined
}

export interface FaultyOptions {
  /** A library that is there from the start. */
  readonly library?: string
  readonly dataDir?: string
  /** Which fault befalls a request. */
  readonly fault?: FaultyService['fault']
  /** Makes the bytes of each upload unlike all others (and takes that away on download): the same content twice is two resources. */
  readonly hasNoDuplicateRule?: boolean
  /** Answers to uploads show the state of the ingestion, as those of the embedded library do. */
  readonly showsStateOfUploads?: boolean
  /** Why a content may be sent again that was answered as stored; without a reason the test fails when one is. */
  readonly mayRepeat?: string
}

/** An answer of the test's own: a string is sent as it is, anything else as JSON. */
export interface ScriptedResponse {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A proxy on loopback in front of a real library. Its hooks may be changed at any time. */
export interface FaultyService extends AsyncDisposable {
  readonly url: string
  readonly token: string
  readonly dataDir: string
  readonly library: EmbeddedLibrary
  readonly requests: readonly SeenRequest[]
  fault: (request: SeenRequest) => Fault | undefined
  /** Changes the JSON of an answer. */
  rewrite: (request: SeenRequest, body: Record<string, unknown>) => unknown
  /** Another answer instead of the library's, which is not asked. */
  answer: (request: SeenRequest) => ScriptedResponse | undefined
  /** The first byte of the nth upload is there, the rest is not read before this resolves. */
  onUploadBegun: (nth: number) => void | Promise<void>
  /** The library has answered, nothing was passed on yet. */
  onResponse: (request: SeenRequest) => void | Promise<void>
  count(route: string): number
  /** Forgets the requests seen so far. */
  forget(): void
  /** Holds uploads, from the nth on, until `release` or the end of the test; `begun` resolves once `count` of them are held. */
  holdUploads(from?: number, count?: number): HeldUploads
}

export interface HeldUploads {
  readonly begun: Promise<void>
  release(): void
}

/** Starts a library and the proxy in front of it; both end with the test at the latest. */
export async function startFaultyService(options: FaultyOptions = {}): Promise<FaultyService> {
  const dataDir = options.dataDir ?? temporaryDirectory()
  const library = await startEmbeddedLibrary({ dataDir })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const attempts = new Map<string, number>()
  const oracle = judgeUploads()
  let requests: SeenRequest[] = []
  let begunUploads = 0
  const server = createServer((incoming, outgoing) => {
    void serve(incoming, outgoing).catch(() => incoming.socket.destroy())
  })

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const path = incoming.url ?? '/'
    const method = incoming.method ?? 'GET'
    const route = routeOf(method, path)
    if (route === 'uploadFile') {
      await new Promise<void>((resolve, reject) => incoming.once('readable', resolve).once('error', reject))
      begunUploads += 1
      await service.onUploadBegun(begunUploads)
    }
    const body = await readAll(incoming)
    const fileName = route === 'uploadFile' ? fileNameOf(body) : undefined
    const key = `${method} ${path} ${fileName ?? ''}`
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    const { headers } = incoming
    const seen: SeenRequest = {
      route,
      method,
      path,
      attempt,
      fileName,
      headers,
      body,
      fault: undefined,
      status: undefined,
    }
    requests.push(seen)
    const end = fileName === undefined ? undefined : oracle.begin({ path, fileName, body })
    outgoing.once('close', () => end?.(false))
    const scripted = service.answer(seen)
    if (scripted) return answerAs(outgoing, scripted)
    seen.fault = service.fault(seen)
    if (refuse(seen.fault, incoming, outgoing)) return
    const answer = options.hasNoDuplicateRule ? withoutNonce(seen, await forward(withNonce(seen))) : await forward(seen)
    seen.status = answer.status
    await service.onResponse(seen)
    if (seen.fault === 'reset-after') incoming.socket.destroy()
    else {
      const isPassed = pass(seen, answer, incoming, outgoing)
      end?.(isPassed && answer.status < 300)
    }
  }

  /** Upload answers of a configured service show no state, so that resources are polled; unless the test wants the library's own. */
  function asService({ route }: SeenRequest, body: unknown): unknown {
    if (route !== 'uploadFile' || options.showsStateOfUploads || typeof body !== 'object' || body === null) return body
    const { ingestion_status: _, text_extracted: __, ...shown }: Record<string, unknown> = { ...body }
    return shown
  }

  /** Returns whether the client gets the library's own answer. */
  function pass(seen: SeenRequest, answer: Forwarded, incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    if (!isJson) {
      passBytes(seen, answer, incoming, outgoing)
      return seen.fault === undefined
    }
    const own = JSON.stringify(asService(seen, JSON.parse(answer.body.toString('utf8'))))
    const json = Buffer.from(JSON.stringify(service.rewrite(seen, JSON.parse(own))))
    const shown = seen.fault === 'cut-answer' ? json.subarray(0, json.length >> 1) : json
    outgoing.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': shown.length }).end(shown)
    return seen.fault === undefined && json.toString('utf8') === own
  }

  function forward(seen: SeenRequest): Promise<Forwarded> {
    return new Promise((resolve, reject) => {
      const { 'accept-encoding': _, 'transfer-encoding': __, ...headers } = seen.headers
      const url = new URL(seen.path, library.url)
      const outgoing = httpRequest(url, { method: seen.method, headers, agent }, (incoming) => {
        readAll(incoming).then(
          (body) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }),
          reject,
        )
      })
      outgoing.on('error', reject).end(seen.body)
    })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let isStopped = false
  const service: FaultyService = {
    url: `http://127.0.0.1:${addressOf(server.address()).port}`,
    token: library.token,
    dataDir,
    library,
    get requests() {
      return requests
    },
    fault: options.fault ?? (() => undefined),
    rewrite: (_, body) => body,
    answer: () => undefined,
    onUploadBegun: () => {},
    onResponse: () => {},
    count: (route) => requests.filter((seen) => seen.route === route).length,
    forget: () => {
      requests = []
      begunUploads = 0
    },
    holdUploads: (from = 1, count = 1) => {
      const [latch, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      onTestFinished(() => latch.resolve())
      let held = 0
      service.onUploadBegun = (nth) => {
        if (nth < from) return
        held += 1
        if (held === count) begun.resolve()
        return latch.promise
      }
      return { begun: begun.promise, release: () => latch.resolve() }
    },
    [Symbol.asyncDispose]: async () => {
      if (isStopped) return
      isStopped = true
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      agent.destroy()
      await library[Symbol.asyncDispose]()
    },
  }
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]()
    if (options.mayRepeat === undefined) oracle.assert()
  })
  if (options.library !== undefined) await createLibrary(library, options.library)
  return service
}

/** Creates a library and returns its identifier. */
export async function createLibrary(
  service: { readonly url: string; readonly token: string },
  name: string,
): Promise<string> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify({ name }) }
  const answer = await fetch(`${service.url}/api/v1/libraries`, request)
  if (answer.status !== 201) throw new Error(`Cannot create the library: ${answer.status}`)
  return JSON.parse(await answer.text()).id
}

/**
 * Faults at random for `share` of all requests, independent of their order. For the same seed, the uploads of the same
 * names meet the same faults; those of other requests depend on the library's identifiers, which are new in each run.
 */
export function randomFaults(seed: number, share: number, kinds: readonly Fault[] = FAULTS): FaultyService['fault'] {
  return ({ method, path, fileName, attempt }) => {
    const random = seededRandom(seed ^ seedOf(`${fileName ?? `${method} ${path}`} ${attempt}`))
    return random() < share ? kinds[Math.floor(random() * kinds.length)] : undefined
  }
}

interface Forwarded {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Hexadecimal, so that a text stays one. */
const NONCE_BYTES = 16

/** The upload with a nonce behind the bytes of the file, which stands last in the form. */
function withNonce(seen: SeenRequest): SeenRequest {
  if (seen.route !== 'uploadFile') return seen
  const end = seen.body.lastIndexOf('\r\n--')
  const nonce = Buffer.from(randomBytes(NONCE_BYTES / 2).toString('hex'))
  const body = Buffer.concat([seen.body.subarray(0, end), nonce, seen.body.subarray(end)])
  return { ...seen, body, headers: { ...seen.headers, 'content-length': String(body.length) } }
}

function withoutNonce(seen: SeenRequest, answer: Forwarded): Forwarded {
  if (seen.route !== 'downloadResource' || answer.status !== 200) return answer
  return { ...answer, body: answer.body.subarray(0, answer.body.length - NONCE_BYTES) }
}

/** Answers without the library; false when the request is to continue. */
function refuse(fault: Fault | undefined, incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  switch (fault) {
    case 'throttled':
      outgoing.setHeader('retry-after', '0')
      answerJson(outgoing, 429, { message: 'Too many requests' })
      return true
    case 'unavailable':
      answerJson(outgoing, 503, { message: 'Service unavailable' })
      return true
    case 'html-error':
      outgoing.writeHead(500, { 'content-type': 'text/html' }).end('<html><body>Server Error</body></html>')
      return true
    case 'html-page':
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Sign in</body></html>')
      return true
    case 'reset-before':
      incoming.socket.destroy()
      return true
    default:
      return false
  }
}

function answerAs(outgoing: ServerResponse, { status, body, headers }: ScriptedResponse): void {
  const text = typeof body === 'string' ? body : deepJson(body)
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(status === 204 ? undefined : text)
}

/** JSON.stringify itself ends in a stack overflow at such depths as tests need. */
function deepJson(value: unknown): string {
  if (Array.isArray(value)) {
    let depth = 0
    let inner: unknown = value
    for (; Array.isArray(inner) && inner.length === 1; [inner] = inner) depth += 1
    return '['.repeat(depth) + JSON.stringify(inner) + ']'.repeat(depth)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${deepJson(inner)}`)
    .join(',')}}`
}

function answerJson(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A download that is cut ends in the middle, with its full length declared. */
function passBytes(seen: SeenRequest, answer: Forwarded, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { 'transfer-encoding': _, connection: __, ...headers } = answer.headers
  outgoing.writeHead(answer.status, { ...headers, 'content-length': answer.body.length })
  if (seen.fault !== 'cut-answer') outgoing.end(answer.body)
  else outgoing.write(answer.body.subarray(0, answer.body.length >> 1), () => incoming.socket.destroy())
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const PATTERNS = Object.entries(ROUTES).map(([route, { method, path }]) => {
  return { route, method, pattern: new RegExp(`^/api${path.replace(/\{\w+\}/g, '[^/]+')}$`) }
})

function routeOf(method: string, path: string): string {
  const [plain = ''] = path.split('?')
  if (path === '/docs?api-docs.json') return 'description'
  return PATTERNS.find((known) => known.method === method && known.pattern.test(plain))?.route ?? 'unknown'
}

function fileNameOf(body: Buffer): string {
  const head = body.subarray(0, 4_096).toString('utf8')
  return /name="file"; filename="([^"]*)"/.exec(head)?.[1] ?? ''
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address
}
