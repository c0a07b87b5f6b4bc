import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Random } from '../../../src/foundation/clock.ts'
import type { ServiceMoment } from './crash-points.ts'

/** A stored resource. The service never recognises bytes that it has, so bytes that are sent twice are stored twice. */
interface Stored {
  readonly id: string
  readonly name: string
  readonly mime: string
  readonly sha256: string
  readonly bytes: Buffer
  polls: number
}

/** A service of its own that keeps everything in memory and an account of what it was asked. */
export interface LedgerService extends AsyncDisposable {
  readonly url: string
  /** Called at each moment, before what follows. */
  onMoment: (moment: ServiceMoment) => void
  /** Called with the file name when the first bytes of an upload are here. */
  onUploadBegun: (fileName: string) => void
  /** Share of uploads that are stored and whose answer is lost. */
  lostResponses: number
  readonly stored: readonly Stored[]
  /** Library paths that were created. */
  readonly directories: ReadonlySet<string>
  /** What no shelfd may ask, by method and path. */
  readonly strays: readonly string[]
  /** Uploads and directories asked for so far. */
  readonly changesAsked: number
  /** Resolves when no request is under way: what a killed process sent has arrived, or never will. */
  settled(): Promise<void>
}

const LIBRARY = { id: 'library', name: 'Research', access: ['read', 'update', 'resource.create'] }
const CONTEXT = {
  tenant: { id: 1, name: 'Test', slug: 'test' },
  user: null,
  grant_type: 'token',
  interfaces: ['rest'],
  abilities: [],
  libraries: [LIBRARY],
}
const LAST_PAGE = { limit: 500, next_cursor: null, truncated: false }
const INBOX = '/.inbox'
const MOST_POLLS = 2

/** Starts the service on loopback, empty. */
export async function startLedgerService(random: Random): Promise<LedgerService> {
  const stored: Stored[] = []
  const directories = new Set(['/', INBOX])
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
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: asked = '' } = request
    const { pathname, searchParams } = new URL(asked, 'http://ledger')
    const parts = pathname.split('/').slice(3)
    const [kind, last] = [`${method} ${parts.length > 2 ? parts[2] : parts[0]}`, parts.at(-1) ?? '']
    if (pathname === '/docs') return send(response, 404, { message: 'Nothing is described' })
    if (kind === 'GET auth') return answerAt(response, 'access asked', () => CONTEXT)
    if (kind === 'GET libraries') return send(response, 200, { items: [LIBRARY], ...LAST_PAGE })
    if (kind === 'GET directory')
      return answerAt(response, 'listing asked', () => listing(searchParams.get('path') ?? '/'))
    if (kind === 'POST directory') return makeDirectory(request, response)
    if (kind === 'POST files') return store(request, response)
    if (kind === 'GET resources' && parts.length === 2) return download(response, last)
    if (kind === 'GET resources') return poll(response, last)
    strays.push(`${method} ${asked}`)
    send(response, 404, { message: 'Not of the interface' })
  }

  function answerAt(response: ServerResponse, moment: ServiceMoment, body: () => object | undefined): void {
    service.onMoment(moment)
    const found = body()
    send(response, found ? 200 : 404, found ?? { message: 'Not found' })
  }

  function listing(path: string): object | undefined {
    if (!directories.has(path)) return undefined
    const top = path === '/' ? '/' : `${path}/`
    const below = [...directories].filter((other) => other !== path && other.startsWith(top))
    const names = below.map((other) => other.slice(top.length)).filter((name) => name !== '' && !name.includes('/'))
    const folders = names.map((name) => ({ name, overview: null, organization_locked: false, is_archive: false }))
    const files = path === INBOX ? stored.map(entryOf) : []
    return { folders, files, ...LAST_PAGE }
  }

  async function makeDirectory(request: IncomingMessage, response: ServerResponse): Promise<void> {
    changesAsked += 1
    const { path } = JSON.parse((await buffer(request)).toString('utf8'))
    service.onMoment('directory asked')
    if (directories.has(path)) return send(response, 409, { message: 'It exists' })
    directories.add(path)
    service.onMoment('directory made')
    response.once('finish', () => service.onMoment('directory answered'))
    const node = { overview: null, parent_id: null, organization_locked: false, is_archive: false }
    send(response, 201, { id: `d${directories.size}`, name: path.slice(path.lastIndexOf('/') + 1), ...node })
  }

  async function store(request: IncomingMessage, response: ServerResponse): Promise<void> {
    changesAsked += 1
    await new Promise((resolve, reject) => request.once('readable', resolve).once('error', reject))
    const first: Buffer = request.read() ?? Buffer.alloc(0)
    service.onUploadBegun(partOf(first).name)
    service.onMoment('upload begun')
    const body = Buffer.concat([first, await buffer(request)])
    service.onMoment('upload whole')
    const { name, mime, bytes } = partOf(body)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const resource = { id: `r-${randomUUID()}`, name, mime, sha256, bytes, polls: 0 }
    stored.push(resource)
    service.onMoment('upload stored')
    if (random() < service.lostResponses) {
      response.destroy()
      return
    }
    response.once('finish', () => service.onMoment('upload answered'))
    send(response, 201, { id: resource.id })
  }

  function poll(response: ServerResponse, id: string): void {
    response.once('finish', () => service.onMoment('resource answered'))
    answerAt(response, 'resource asked', () => {
      const resource = stored.find((one) => one.id === id)
      if (!resource) return undefined
      resource.polls += 1
      return { id, ingestion_status: resource.polls > random() * MOST_POLLS ? 'completed' : 'running' }
    })
  }

  function download(response: ServerResponse, id: string): void {
    service.onMoment('download asked')
    const resource = stored.find((one) => one.id === id)
    const { mime, bytes } = resource ?? { mime: 'text/plain', bytes: Buffer.alloc(0) }
    response.writeHead(resource ? 200 : 404, { 'content-type': mime, 'content-length': bytes.length }).end(bytes)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const service: LedgerService = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`,
    onMoment: () => {},
    onUploadBegun: () => {},
    lostResponses: 0,
    stored,
    directories,
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

function entryOf({ id, name, mime }: Stored): object {
  return { id, title: name, slug: name, filename: name, mime_type: mime, organization_locked: false }
}

/** The file of a form that holds nothing else; of the beginning of one its name. */
function partOf(form: Buffer): { readonly name: string; readonly mime: string; readonly bytes: Buffer } {
  const headEnd = form.indexOf('\r\n\r\n')
  const head = form.toString('utf8', 0, headEnd)
  return {
    name: /filename="([^"]*)"/.exec(head)?.[1] ?? '',
    mime: /Content-Type: (.*)/.exec(head)?.[1] ?? '',
    bytes: form.subarray(headEnd + 4, form.lastIndexOf('\r\n--')),
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
