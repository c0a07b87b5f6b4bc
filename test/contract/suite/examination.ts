import { createHash, randomBytes } from 'node:crypto'
import { nameOfLibraryPath, parentLibraryPath } from '../../../src/contract/library-path.ts'
import { type AccessContext, accessContext, type DirectoryPage, directoryPage } from '../../../src/contract/records.ts'
import { OPENAPI_PATH } from '../../../src/contract/routes.ts'
import { decideCapabilities } from '../../../src/remote/capabilities/capabilities.ts'
import { type Answer, readResponse, ServiceClient } from '../service-client.ts'
import { conforms, hasStatus } from './assert-answer.ts'
import { NotObserved } from './sentence.ts'
import { ROLES, type Role, type Target } from './target.ts'

/** An identifier that no service has given. */
export const NO_SUCH_THING = 'shelfd-contract-no-such-thing'

const REQUEST_MS = 60_000
const ISSUES_A_URL = /\/view-urls$/

/** The requests of one run, and shared data of its assertions, each made once when it is first needed. */
export class Examination {
  readonly target: Target
  /** Letters and digits that are in every name, text and query of this run, and in no other. */
  readonly stamp = createHash('sha256')
    .update(randomBytes(16))
    .digest('base64url')
    .replaceAll(/[-_]/g, 'x')
    .slice(0, 12)
  /** The names of the libraries made, by their identifiers. */
  readonly #made = new Map<string, string>()

  constructor(target: Target) {
    this.target = target
  }

  /** Throws NotObserved without a credential of this role. */
  client(role: Role = 'owner'): ServiceClient {
    const token = this.target.tokens[role]
    if (token === undefined) throw new NotObserved(`it needs a credential with ${ROLES[role]} (--${role}-token-file)`)
    return this.clientWith(`Bearer ${token}`)
  }

  /** A client with this header `Authorization`, without one if it is empty. */
  clientWith(authorization: string): ServiceClient {
    const { url, tokens } = this.target
    const service = { url, token: tokens.owner, settled: async () => {}, fetch: this.fetch }
    return new ServiceClient(service, authorization)
  }

  /** Sends a request without a credential. Refuses those that could change something, unless that is allowed. */
  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET' } = init
    const { pathname } = new URL(url)
    if (!['GET', 'HEAD'].includes(method) && !ISSUES_A_URL.test(pathname)) this.#mayWrite()
    if (method === 'DELETE') this.#mayDelete(pathname.split('/libraries/')[1]?.split('/')[0] ?? '')
    return await this.target.fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REQUEST_MS) })
  }

  async open(url: string): Promise<Answer> {
    return await readResponse(await this.fetch(url))
  }

  readonly access = once(async (): Promise<AccessContext> => {
    const answer = await this.client().get('/auth/check')
    hasStatus(answer, 200)
    return conforms(accessContext, answer.json)
  })

  /** The instance's OpenAPI document. */
  readonly description = once(async () => {
    const answer = await this.open(this.target.url + OPENAPI_PATH)
    hasStatus(answer, 200)
    return answer.json
  })

  /** The fields that the instance expects where the interface does not show them. */
  readonly capabilities = once(async () => decideCapabilities({}, await this.description()))

  /** A library that the owner can read: the suite's own where it may write. */
  readonly library = once(async (): Promise<string> => {
    if (this.target.mayWrite) return await this.ownLibrary()
    const [first] = (await this.access()).libraries.filter(({ access }) => access.includes('read'))
    if (!first) throw new NotObserved('the credential can read no library')
    return first.id
  })

  /** A library to write to. */
  readonly ownLibrary = once(async (): Promise<string> => {
    this.#mayWrite()
    const { library } = this.target
    if (library !== undefined) return library
    const { id } = await this.makeLibrary('main')
    const shown = await this.client().get(`/libraries/${id}/directory`)
    if (shown.status === 403) throw new NotObserved('the credential has no rights on what it makes: name a --library')
    return id
  })

  /** Makes a library that `cleanUp` deletes; throws NotObserved without the ability. */
  async makeLibrary(purpose: string, role: Role = 'owner'): Promise<{ id: string; name: string; answer: Answer }> {
    this.#mayWrite()
    if (role === 'owner' && !(await this.access()).abilities.includes('library.create')) {
      throw new NotObserved('the credential may not create libraries')
    }
    const { nameField, overviewField } = (await this.capabilities()).createLibrary
    const name = `shelfd contract ${this.stamp} ${purpose}`
    const overview = overviewField && { [overviewField]: 'Made to examine the service; may be deleted.' }
    const answer = await this.client(role).call('POST', '/libraries', { [nameField]: name, ...(overview || {}) })
    hasStatus(answer, 201)
    const id = String(answer.json.id)
    this.#made.set(id, name)
    return { id, name, answer }
  }

  /** Deletes one of the libraries that this run has made. */
  async deleteLibrary(id: string, role: Role = 'owner'): Promise<Answer> {
    const answer = await this.client(role).call('DELETE', `/libraries/${id}`)
    if (answer.status === 204) this.#made.delete(id)
    return answer
  }

  /** An empty directory of the suite in `ownLibrary`. */
  readonly directory = once(async (): Promise<string> => {
    const path = `/shelfd-contract-${this.stamp}`
    hasStatus(await this.makeDirectory(path), 201)
    return path
  })

  async makeDirectory(path: string, role: Role = 'owner', library?: string): Promise<Answer> {
    const { createDirectory: fields } = await this.capabilities()
    const body =
      fields.kind === 'path'
        ? { [fields.field]: path }
        : { [fields.nameField]: nameOfLibraryPath(path), [fields.parentField]: parentLibraryPath(path) }
    return await this.client(role).call('POST', `/libraries/${library ?? (await this.ownLibrary())}/directory`, body)
  }

  async list(library: string, query: Readonly<Record<string, string>> = {}): Promise<DirectoryPage> {
    const answer = await this.client().listing(library, query)
    hasStatus(answer, 200)
    return conforms(directoryPage, answer.json)
  }

  /** Deletes the libraries that were made; returns descriptions of what remains. */
  async cleanUp(): Promise<string[]> {
    const left: string[] = []
    for (const [id, name] of this.#made) {
      const { status } = await this.deleteLibrary(id)
      if (status !== 204) left.push(`the library "${name}" (${id}): deleting it was answered with ${status}`)
    }
    const { library, mayWrite } = this.target
    if (library !== undefined && mayWrite) left.push(`files and directories named with ${this.stamp} in ${library}`)
    return left
  }

  #mayWrite(): void {
    if (!this.target.mayWrite) throw new NotObserved('it writes to the service (--write)')
  }

  #mayDelete(library: string): void {
    if (library !== NO_SUCH_THING && !this.#made.has(library)) throw new Error(`Not created by this run: ${library}`)
  }
}

/** Calls `make` once, when the result is first asked for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
