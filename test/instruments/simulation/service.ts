/** The service as its interface describes it, in memory: what it holds is the truth that the program is judged by. */
import { ROUTES, type RouteName } from '../../../src/contract/routes.ts'
import { sha256Of } from './contents.ts'

const LIBRARY = { id: 'library-1', name: 'Library' }
const ACCESS = ['read', 'resource.create', 'update', 'resource.delete']

export interface Resource {
  readonly id: string
  readonly sha256: string
  readonly mime: string
  readonly fileName: string
  readonly slug: string
  readonly directory: string
  readonly bytes: Uint8Array
  readonly storedMs: number
  /** From when on listings show it. */
  readonly listedMs: number
  /** When its processing ends, and how. */
  readonly finalMs: number
  readonly finalStatus: unknown
}

export interface ServiceRequest {
  readonly route: RouteName | 'description' | 'unknown'
  /** The parts of the path that stand for `{…}`, in order. */
  readonly values: readonly string[]
  readonly query: URLSearchParams
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** Of an upload. */
  readonly form?: UploadForm
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What a run of the simulation decides about a resource when it is stored. */
export interface Fate {
  readonly listedMs: number
  readonly finalMs: number
  readonly finalStatus: unknown
}

export interface ServiceTraits {
  /** The interface's own duplicate rule of uploads; without it a blind retry shows as a second resource. */
  readonly hasDuplicateRule: boolean
  /** It has a field of the upload that names a directory. */
  readonly hasDirectoryField: boolean
  readonly pageSize: number
  readonly nowMs: () => number
  readonly fateOf: (sha256: string) => Fate
  /** Asked for a directory whose parent is not there. */
  readonly onOrphan: (path: string) => void
  readonly onDelete?: (resource: Resource) => void
}

export class SimulatedService {
  readonly resources: Resource[] = []
  /** By path: when they were created. */
  readonly directories = new Map([
    ['/', 0],
    ['/.inbox', 0],
  ])
  /** Locations beyond the first one of a resource. */
  readonly locations: { readonly resource: Resource; readonly directory: string; readonly fileName: string }[] = []
  readonly #traits: ServiceTraits
  #lastId = 0

  constructor(traits: ServiceTraits) {
    this.#traits = traits
  }

  find(id: string): Resource | undefined {
    return this.resources.find((resource) => resource.id === id)
  }

  statusOf({ finalMs, storedMs, finalStatus }: Resource): unknown {
    const nowMs = this.#traits.nowMs()
    if (nowMs >= finalMs) return finalStatus
    return nowMs - storedMs < (finalMs - storedMs) / 2 ? 'not_started' : 'running'
  }

  answer(request: ServiceRequest): Reply {
    const [first = '', second = ''] = request.values
    switch (request.route) {
      case 'description':
        return this.#traits.hasDirectoryField ? DESCRIPTION : NO_DESCRIPTION
      case 'checkAccess':
        return CONTEXT
      case 'listLibraries':
        return LIBRARIES
      case 'showLibrary':
        return SHOWN_LIBRARY
      case 'listDirectory':
        return this.#list(request.query)
      case 'createDirectory':
        return this.#makeDirectory(request.body)
      case 'uploadFile':
        return this.#upload(request)
      case 'showResource':
        return this.#show(second)
      case 'downloadResource':
        return this.#download(first)
      case 'deleteResource':
        return this.#delete(second)
      default:
        throw new Error(`A request that the program may not send: ${request.route}`)
    }
  }

  #list(query: URLSearchParams): Reply {
    const path = query.get('path') ?? '/'
    if (!this.directories.has(path)) return json(404, { message: 'no such directory' })
    const prefix = path === '/' ? '/' : `${path}/`
    const folders = [...this.directories.keys()]
      .filter((other) => other !== '/' && other.startsWith(prefix) && !other.slice(prefix.length).includes('/'))
      .map((other) => ({
        name: other.slice(prefix.length),
        overview: null,
        organization_locked: false,
        is_archive: false,
      }))
    const nowMs = this.#traits.nowMs()
    const located = this.locations.map(({ resource, directory, fileName }) => ({ ...resource, directory, fileName }))
    const files = [...this.resources, ...located]
      .filter(({ directory, listedMs }) => directory === path && listedMs <= nowMs)
      .map(({ id, fileName, slug, mime }) => {
        const dot = fileName.lastIndexOf('.')
        const filename = dot > 0 ? `${slug}${fileName.slice(dot)}` : slug
        return { id, title: fileName, slug, filename, mime_type: mime, organization_locked: false }
      })
    const limit = Math.min(Number(query.get('limit') ?? 100), this.#traits.pageSize)
    const start = Number(query.get('cursor') ?? 0)
    const end = start + limit
    const truncated = end < Math.max(folders.length, files.length)
    return json(200, {
      folders: folders.slice(start, end),
      files: files.slice(start, end),
      limit,
      next_cursor: truncated ? String(end) : null,
      truncated,
    })
  }

  #makeDirectory(body: Buffer): Reply {
    const { path } = JSON.parse(body.toString()) as { path: string }
    if (this.directories.has(path)) return json(409, { message: 'it exists' })
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    if (!this.directories.has(parent)) {
      this.#traits.onOrphan(path)
      return json(404, { message: 'no such parent directory' })
    }
    this.directories.set(path, this.#traits.nowMs())
    const name = path.slice(path.lastIndexOf('/') + 1)
    const node = { id: `node-${path}`, name, overview: null, parent_id: null }
    return json(201, { ...node, organization_locked: false, is_archive: false })
  }

  #upload({ form }: ServiceRequest): Reply {
    if (!form) return json(422, { message: 'no form' })
    const { fileName, mime, bytes, sha256, fields } = form
    const directory = this.#traits.hasDirectoryField ? (fields.get('directory_path') ?? '/.inbox') : '/.inbox'
    if (!this.directories.has(directory)) return json(422, { message: 'no such directory' })
    const known = this.resources.find((resource) => resource.sha256 === sha256 && resource.mime === mime)
    if (known && this.#traits.hasDuplicateRule) {
      this.locations.push({ resource: known, directory, fileName })
      return json(200, { id: known.id, duplicate: true })
    }
    this.#lastId += 1
    const id = `resource-${this.#lastId}`
    const base =
      fileName
        .replace(/\.[^.]*$/, '')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-') || 'file'
    const twins = this.resources.filter((other) => other.slug === base || other.slug.startsWith(`${base}-`)).length
    const slug = twins === 0 ? base : `${base}-${twins + 1}`
    const fate = this.#traits.fateOf(sha256)
    const storedMs = this.#traits.nowMs()
    this.resources.push({ id, sha256, mime, fileName, slug, directory, bytes, storedMs, ...fate })
    return json(201, { id })
  }

  #show(id: string): Reply {
    const resource = this.find(id)
    if (!resource) return json(404, { message: 'no such resource' })
    return json(200, { id, title: resource.fileName, ingestion_status: this.statusOf(resource) })
  }

  #delete(id: string): Reply {
    const resource = this.find(id)
    if (!resource) return json(404, { message: 'no such resource' })
    this.#traits.onDelete?.(resource)
    this.resources.splice(this.resources.indexOf(resource), 1)
    for (let at = this.locations.length - 1; at >= 0; at -= 1) {
      if (this.locations[at]?.resource === resource) this.locations.splice(at, 1)
    }
    return { status: 204, headers: {}, body: Buffer.alloc(0) }
  }

  #download(id: string): Reply {
    const resource = this.find(id)
    if (!resource) return json(404, { message: 'no such resource' })
    const headers = { 'content-type': resource.mime, 'content-length': String(resource.bytes.length) }
    return { status: 200, headers, body: Buffer.from(resource.bytes) }
  }
}

const DAWN = '2026-01-01T00:00:00Z'
const CONTEXT = json(200, {
  tenant: { id: 1, name: 'Tenant', slug: 'tenant' },
  user: null,
  grant_type: 'access_token',
  interfaces: ['api'],
  abilities: [],
  libraries: [{ ...LIBRARY, access: ACCESS }],
})
const LIBRARIES = json(200, {
  items: [{ ...LIBRARY, access: ACCESS }],
  limit: 500,
  next_cursor: null,
  truncated: false,
})
const SHOWN_LIBRARY = json(200, { ...LIBRARY, overview: null, created_at: DAWN, updated_at: DAWN })

/** A description with a field of the upload that names a directory. */
const DESCRIPTION = json(200, {
  openapi: '3.1.0',
  info: { version: '0.9.0' },
  paths: {
    '/v1/libraries/{library}/files': {
      post: {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                required: ['file'],
                properties: {
                  file: { type: 'string', format: 'binary' },
                  directory_path: { type: 'string', description: 'Directory of the library to put the file into' },
                },
              },
            },
          },
        },
      },
    },
  },
})
const NO_DESCRIPTION = json(404, { message: 'not found' })

export function json(status: number, value: unknown): Reply {
  const body = Buffer.from(JSON.stringify(value))
  return { status, headers: { 'content-type': 'application/json', 'content-length': String(body.length) }, body }
}

const PATTERNS = Object.entries(ROUTES).map(([route, { method, path }]) => {
  const pattern = new RegExp(`^/api${path.replace(/\{\w+\}/g, '([^/]+)')}$`)
  return { route: route as RouteName, method, pattern }
})

type Routed = Pick<ServiceRequest, 'route' | 'values' | 'query'>

const known = new Map<string, Routed>()

/** Returns which request of the interface this is. */
export function routeOf(method: string, path: string): Routed {
  const key = `${method} ${path}`
  const routed = known.get(key) ?? match(method, path)
  // Each world has its own paths.
  if (known.size > 1_000) known.clear()
  known.set(key, routed)
  return routed
}

function match(method: string, path: string): Routed {
  const [plain = '', search = ''] = path.split('?')
  const query = new URLSearchParams(search)
  if (method === 'GET' && path === '/docs?api-docs.json') return { route: 'description', values: [], query }
  for (const route of PATTERNS) {
    const found = route.method === method ? route.pattern.exec(plain) : null
    if (found) return { route: route.route, values: found.slice(1).map(decodeURIComponent), query }
  }
  return { route: 'unknown', values: [], query }
}

export interface UploadForm {
  readonly fileName: string
  readonly mime: string
  readonly bytes: Uint8Array
  readonly sha256: string
  readonly fields: ReadonlyMap<string, string>
}

/** The form of an upload, whose file stands last. */
export function readMultipart(contentType: string, body: Buffer): UploadForm {
  const boundary = /boundary=(\S+)/.exec(contentType)?.[1] ?? ''
  const headEnd = body.indexOf('\r\n\r\n', body.indexOf('name="file"'))
  const head = body.subarray(0, headEnd).toString()
  const bytes = body.subarray(headEnd + 4, body.lastIndexOf(`\r\n--${boundary}--`))
  const fields = new Map<string, string>()
  for (const [, name = '', value = ''] of head.matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g)) fields.set(name, value)
  const fileName = /name="file"; filename="([^"]*)"/.exec(head)?.[1] ?? ''
  return { fileName, mime: /Content-Type: (.+)$/.exec(head)?.[1] ?? '', bytes, sha256: sha256Of(bytes), fields }
}
