import { useEffect, useMemo, useState } from 'preact/hooks'
import { mimeOf } from '../../../contract/mime.ts'
import type { ResourceRecord } from '../../../contract/records.ts'
import { ingestionOutcome } from '../../../contract/states.ts'
import { describeError } from '../../common/client.ts'
import type { ApiClient } from '../api-client.ts'

export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending'; readonly part: number }
  /** Stored; `resource` is undefined until its state has been asked for. */
  | {
      readonly kind: 'stored'
      readonly id: string
      readonly isCopy: boolean
      readonly resource: ResourceRecord | undefined
    }
  | { readonly kind: 'refused'; readonly why: string; readonly canRetry: boolean }

export interface Upload {
  readonly number: number
  readonly file: File
  readonly library: string
  readonly directory: string
  readonly state: UploadState
}

const CONCURRENCY = 2
const FIRST_POLL_MS = 200
const MAX_POLL_MS = 5_000

/** Sends files, at most CONCURRENCY at a time, and follows the state of each until its text has been read. */
class UploadQueue {
  readonly #api: ApiClient
  readonly #onChange: (uploads: readonly Upload[]) => void
  readonly #ended = new AbortController()
  #uploads: readonly Upload[] = []
  #isFollowing = false

  constructor(api: ApiClient, onChange: (uploads: readonly Upload[]) => void) {
    this.#api = api
    this.#onChange = onChange
  }

  add(library: string, directory: string, files: readonly File[]): void {
    const first = (this.#uploads.at(-1)?.number ?? 0) + 1
    const added = files.map((file, index) => {
      return { number: first + index, file, library, directory, state: { kind: 'waiting' } } satisfies Upload
    })
    this.#change([...this.#uploads, ...added])
    this.#sendNext()
  }

  refuse(library: string, directory: string, file: File, why: string): void {
    const number = (this.#uploads.at(-1)?.number ?? 0) + 1
    this.#change([
      ...this.#uploads,
      { number, file, library, directory, state: { kind: 'refused', why, canRetry: false } },
    ])
  }

  retry(number: number): void {
    this.#update(number, { kind: 'waiting' })
    this.#sendNext()
  }

  /** Removes the uploads that are no longer under way from the list. */
  clear(): void {
    this.#change(this.#uploads.filter((upload) => isUnderWay(upload)))
  }

  stop(): void {
    this.#ended.abort()
  }

  #sendNext(): void {
    const sending = this.#uploads.filter(({ state }) => state.kind === 'sending')
    const next = this.#uploads.filter(({ state }) => state.kind === 'waiting').slice(0, CONCURRENCY - sending.length)
    for (const upload of next) {
      this.#update(upload.number, { kind: 'sending', part: 0 })
      void this.#send(upload).finally(() => this.#sendNext())
    }
  }

  async #send({ number, file, library, directory }: Upload): Promise<void> {
    const onProgress = (part: number) => this.#update(number, { kind: 'sending', part })
    try {
      const sent = { file, mimeType: mimeOf(file.name), directory }
      const { id, duplicate } = await this.#api.upload(library, sent, { signal: this.#ended.signal, onProgress })
      this.#update(number, { kind: 'stored', id, isCopy: duplicate === true, resource: undefined })
      void this.#follow()
    } catch (error) {
      if (!this.#ended.signal.aborted)
        this.#update(number, { kind: 'refused', why: describeError(error), canRetry: true })
    }
  }

  /** Asks for the states that are not final, round after round; the interval grows while no state changes. */
  async #follow(): Promise<void> {
    if (this.#isFollowing) return
    this.#isFollowing = true
    let delayMs = FIRST_POLL_MS
    while (!this.#ended.signal.aborted) {
      const pending = this.#uploads.filter(isBeingRead)
      if (pending.length === 0) break
      let hasChanged = false
      for (const upload of pending) hasChanged = (await this.#ask(upload)) || hasChanged
      delayMs = hasChanged ? FIRST_POLL_MS : Math.min(MAX_POLL_MS, delayMs * 1.5)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
    this.#isFollowing = false
  }

  /** Asks for the state of a stored file. Returns whether it has changed; false if the request fails. */
  async #ask({ number, library, state }: Upload): Promise<boolean> {
    if (state.kind !== 'stored') return false
    try {
      const resource = await this.#api.showResource(library, state.id, 0, this.#ended.signal)
      this.#update(number, { ...state, resource })
      return resource.ingestion_status !== state.resource?.ingestion_status
    } catch {
      return false
    }
  }

  #update(number: number, state: UploadState): void {
    this.#change(this.#uploads.map((upload) => (upload.number === number ? { ...upload, state } : upload)))
  }

  #change(uploads: readonly Upload[]): void {
    if (this.#ended.signal.aborted) return
    this.#uploads = uploads
    this.#onChange(uploads)
  }
}

function isBeingRead({ state }: Upload): boolean {
  if (state.kind !== 'stored') return false
  return state.resource === undefined || ingestionOutcome(state.resource.ingestion_status) === 'pending'
}

export function isUnderWay(upload: Upload): boolean {
  return upload.state.kind === 'waiting' || upload.state.kind === 'sending' || isBeingRead(upload)
}

export interface Dropped {
  readonly file: File
  readonly isFolder: boolean
}

const FOLDER_REFUSAL = 'This is a folder. Open it and choose the files in it, or let shelfd mirror it.'

export type Uploads = ReturnType<typeof useUploads>

export function useUploads(api: ApiClient) {
  const [all, setAll] = useState<readonly Upload[]>([])
  const queue = useMemo(() => new UploadQueue(api, setAll), [api])
  useEffect(() => () => queue.stop(), [queue])
  useWarning(all.some(({ state }) => state.kind === 'waiting' || state.kind === 'sending'))
  return {
    all,
    /** Queues the dropped files; refuses a folder with a message. */
    add: (library: string, directory: string, dropped: readonly Dropped[]) => {
      for (const { file } of dropped.filter(({ isFolder }) => isFolder))
        queue.refuse(library, directory, file, FOLDER_REFUSAL)
      const files = dropped.filter(({ isFolder }) => !isFolder).map(({ file }) => file)
      queue.add(library, directory, files)
    },
    retry: (number: number) => queue.retry(number),
    clear: () => queue.clear(),
    storedIn: (library: string, directory: string) => {
      const here = all.filter((upload) => upload.library === library && upload.directory === directory)
      return here.filter(({ state }) => state.kind === 'stored').length
    },
  }
}

/** Makes the browser ask before it leaves the page while this is needed. */
function useWarning(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isNeeded])
}
