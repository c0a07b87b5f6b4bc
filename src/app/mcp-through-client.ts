import type { ResourceRecord } from '../contract/records.ts'
import type { DocumentText, FoundDocument, McpAccess } from '../embedded/mcp/mcp-access.ts'
import type { Clock, Timer } from '../foundation/clock.ts'
import { ShelfdError } from '../foundation/errors.ts'
import { counted } from '../foundation/text/safe-text.ts'
import { isoTime } from '../foundation/text/times.ts'
import type { Download, ServiceClient } from '../remote/service-client.ts'
import { openStoreReader } from '../store/open-store.ts'
import { describeProcessing, type FilteredHit, searchFiltered, sentFinder } from '../sync/filtered-search.ts'

interface LeasedService<Client> extends AsyncDisposable {
  readonly client: Client
  /** The origin of the service, or the instance of the embedded library. */
  readonly identity: string
}

const IDLE_MS = 5_000

/** Opens the service when needed, and closes it after 5 s without use, because assistants keep this program running all day. */
export class ServiceLease<Client> implements AsyncDisposable {
  readonly #open: () => Promise<LeasedService<Client>>
  readonly #clock: Pick<Clock, 'startTimer'>
  #opened: Promise<LeasedService<Client>> | undefined
  #closing: Promise<void> = Promise.resolve()
  #users = 0
  #idle: Timer | undefined

  constructor(open: () => Promise<LeasedService<Client>>, clock: Pick<Clock, 'startTimer'>) {
    this.#open = open
    this.#clock = clock
  }

  /** Returns the opened service, for use until it is disposed of. Throws what opening throws; the next call tries again. */
  async acquire() {
    this.#idle?.[Symbol.dispose]()
    this.#users += 1
    this.#opened ??= this.#closing.then(this.#open)
    const opened = this.#opened
    try {
      const { client, identity } = await opened
      return { client, identity, [Symbol.dispose]: () => this.#release() }
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined
      this.#release()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle?.[Symbol.dispose]()
    this.#close()
    await this.#closing
  }

  #release(): void {
    this.#users -= 1
    if (this.#users === 0) this.#idle = this.#clock.startTimer(IDLE_MS, () => this.#close())
  }

  /** Closes the service if it is open, and ignores errors. */
  #close(): void {
    const opened = this.#opened
    this.#opened = undefined
    if (opened) this.#closing = opened.then((service) => service[Symbol.asyncDispose]()).catch(() => {})
  }
}

/** Types of files that are read as they are if they are UTF-8. For all other files, the text comes from the service's assets. */
const PLAIN = /^(?:text\/(?!html)|application\/(?:json|yaml|toml|x-ndjson))/

const NO_FILTER = { place: null, isType: null, sinceMs: null, beforeMs: null, order: 'relevance' } as const

/** Lets assistants use the service with the rights of the configured credential. Hits also show what the store knows of a document. */
export function accessThrough(lease: ServiceLease<ServiceClient>, stateDir: string): McpAccess {
  return {
    async *listLibraries(signal) {
      using leased = await lease.acquire()
      yield* leased.client.listLibraries(signal)
    },
    async search({ limit, allVersions, ...request }, signal) {
      using leased = await lease.acquire()
      using store = openStoreReader(stateDir)
      const { notice, hits } = await searchFiltered(request, {
        client: leased.client,
        filter: { ...NO_FILTER, versions: allVersions ? 'all' : 'current' },
        wanted: limit,
        findSent: sentFinder(store, leased.identity),
        signal,
      })
      const processing = store?.sentResources.countProcessing(leased.identity, request.libraryIds) ?? 0
      const remarks = [notice, ...describeProcessing(processing)].filter((each) => each !== '')
      return { notice: remarks.join(' '), documents: hits.slice(0, limit).map(describeHit) }
    },
    async mayUpload(signal) {
      try {
        using leased = await lease.acquire()
        const { abilities, libraries } = await leased.client.checkAccess(signal)
        const rights = libraries.flatMap(({ access }) => access)
        return abilities.includes('library.all.resource.create') || rights.includes('resource.create')
      } catch (error) {
        // If the service does not answer, assistants still get the upload tool, because its call reports the reason.
        if (error instanceof ShelfdError) return true
        throw error
      }
    },
    async *listDirectory(libraryId, path, signal) {
      using leased = await lease.acquire()
      yield* leased.client.listDirectory(libraryId, path, signal)
    },
    async showResource(libraryId, resourceId, signal) {
      using leased = await lease.acquire()
      return await leased.client.showResource(libraryId, resourceId, signal)
    },
    async readText(resource, maxLength, signal) {
      using leased = await lease.acquire()
      return await readText(leased.client, resource, maxLength, signal)
    },
    async uploadFile({ bytes, ...upload }, signal) {
      using leased = await lease.acquire()
      return await leased.client.uploadFile({ ...upload, sizeBytes: bytes.length, openBody: () => bytes }, signal)
    },
  }
}

function describeHit({ resource, facts }: FilteredHit): FoundDocument {
  const { mime: type, sizeBytes: size, dateMs, version, files, formerFile: formerPath, earlier } = facts
  const described = { type, size, date: isoTime(dateMs), version, earlierVersions: earlier?.count ?? 0 }
  return { resource, ...described, localPath: files[0] ?? null, formerPath }
}

async function readText(
  client: ServiceClient,
  { id, assets = [] }: ResourceRecord,
  maxLength: number,
  signal: AbortSignal,
): Promise<DocumentText> {
  const original = await client.downloadResource(id, signal)
  const isPlain = PLAIN.test(original.mime ?? '')
  // A body that is neither read nor closed keeps its connection.
  const own = await textOf(original, isPlain ? maxLength : 0)
  const isUtf8 = !own.includes('\ufffd')
  if (isPlain && (isUtf8 || assets.length === 0)) return { text: own }
  let text = ''
  let parts = 0
  for (const asset of assets) {
    if (text.length >= maxLength) break
    const payload = await client.downloadAsset(asset.id, signal)
    const isText = /^text\//.test(payload.mime ?? '')
    const part = await textOf(payload, isText ? maxLength - text.length : 0)
    if (!isText) continue
    text += `${part}\n`
    parts += 1
  }
  if (isPlain && parts === 0) return { text: own }
  return { text, notice: `Joined from ${counted(parts, 'part')} that the service lists; there may be more` }
}

async function textOf({ body }: Download, maxLength: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= maxLength) break
  }
  return text.slice(0, maxLength)
}
