/**
 * A service that keeps nothing but its directories, when the upload of each name began and, with --lists-uploads, these names: every
 * request is answered at once, every upload is new and lies in `.inbox`, every resource is searchable.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { basename, dirname } from 'node:path'
import { text } from 'node:stream/consumers'

const LIBRARY = { id: 'bench', name: 'Bench', access: ['read', 'update', 'resource.create'] }
const CONTEXT = {
  tenant: { id: 1, name: 'Bench', slug: 'bench' },
  user: null,
  grant_type: 'token',
  interfaces: ['rest'],
  abilities: [],
  libraries: [LIBRARY],
}
const PAGE_LENGTH = 500
const LAST_PAGE = { limit: PAGE_LENGTH, next_cursor: null, truncated: false }
const INBOX = '/.inbox'
const NODE = { name: 'bench', overview: null, parent_id: null, organization_locked: false, is_archive: false }

/** The directories by path, each with those in it. */
const directories = new Map<string, Set<string>>([
  ['/', new Set([INBOX])],
  [INBOX, new Set()],
])
const listsUploads = process.argv.includes('--lists-uploads')
/** Names of the uploads; the number in an upload's identifier is its place. */
const uploads: string[] = []
let uploadCount = 0

let requests = 0
let lastId = 0
let begun: Record<string, number> = {}

const server = createServer((request, response) => {
  if (request.url === '/requests') {
    answer(response, 200, { requests })
    return
  }
  if (request.url === '/begun') {
    answer(response, 200, begun)
    begun = {}
    return
  }
  requests += 1
  if (request.method === 'POST' && request.url?.endsWith('/files')) {
    takeUpload(request, response)
    return
  }
  if (request.method === 'POST' && request.url?.endsWith('/directory')) {
    void createDirectory(request, response)
    return
  }
  request.resume()
  request.on('end', () => respond(request, response))
})

async function createDirectory(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path }: { path: string } = JSON.parse(await text(request))
  if (!directories.has(path)) directories.set(path, new Set())
  directories.get(dirname(path))?.add(path)
  answer(response, 201, { id: nextId(), ...NODE })
}

function listDirectory(url: string, response: ServerResponse): void {
  const query = new URL(url, 'http://localhost').searchParams
  const path = query.get('path') ?? '/'
  const children = directories.get(path)
  if (!children) {
    answer(response, 404, { detail: 'There is no such directory' })
    return
  }
  const folders = [...children].map((child) => ({ ...NODE, name: basename(child) }))
  const page = path === INBOX ? pageOfUploads(Number(query.get('cursor') ?? 0)) : { files: [], ...LAST_PAGE }
  answer(response, 200, { folders, ...page })
}

function pageOfUploads(start: number) {
  const end = start + PAGE_LENGTH
  const files = uploads.slice(start, end).map((name, at) => ({
    id: `u${start + at}`,
    title: name,
    slug: name,
    filename: name,
    mime_type: 'text/plain',
    organization_locked: false,
  }))
  const truncated = end < uploads.length
  return { files, limit: PAGE_LENGTH, next_cursor: truncated ? String(end) : null, truncated }
}

function respond({ url = '' }: IncomingMessage, response: ServerResponse): void {
  if (url.includes('/resources/'))
    answer(response, 200, { id: url.slice(url.lastIndexOf('/') + 1), ingestion_status: 'completed' })
  else if (url.endsWith('/auth/check')) answer(response, 200, CONTEXT)
  else if (url.includes('/directory')) listDirectory(url, response)
  else if (url.includes('/libraries')) answer(response, 200, { items: [LIBRARY], ...LAST_PAGE })
  else answer(response, 404, { detail: 'This service keeps nothing' })
}

/** The name is in the first bytes. */
function takeUpload(request: IncomingMessage, response: ServerResponse): void {
  const atMs = performance.timeOrigin + performance.now()
  request.once('data', (bytes: Buffer) => {
    const name = /filename="([^"]*)"/.exec(bytes.toString('latin1', 0, 1_000))?.[1] ?? 'unnamed'
    begun[name] = atMs
    const id = `u${uploadCount}`
    uploadCount += 1
    if (listsUploads) uploads.push(name)
    request.on('end', () => answer(response, 201, { id }))
  })
}

function nextId(): string {
  lastId += 1
  return `r${lastId}`
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.on('disconnect', () => process.exit())
