import { assertLibraryRemains, isDirectoryGone } from '../directories/missing-place.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import type { RunAttempts } from '../pass.ts'
import type { Intent } from './intent.ts'
import type { UploadResult } from './upload-one.ts'

type Refusal = Extract<UploadResult, { kind: 'refused' }>

/** Finds out whether the service refused an upload because of its file, its directory or its library. */
export class RefusalExplainer {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #attempts: RunAttempts
  /** Directories that were found present after a refusal. */
  readonly #present = new Set<number>()
  #libraryCheck: Promise<void> | undefined

  constructor(engine: Engine, mirror: OpenMirror, connection: Connection, attempts: RunAttempts) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
    this.#attempts = attempts
  }

  /** `fatal` when the library is gone, `no-directory` when the directory is, otherwise the refusal itself. */
  async explain({ directoryId, directory, isLink }: Intent, refusal: Refusal): Promise<UploadResult> {
    const { goneDirectories, recreatedDirectories } = this.#attempts
    const mayMeanDirectory = refusal.code === 'not-found' || refusal.code === 'invalid'
    try {
      if (refusal.code === 'not-found') await this.#checkLibrary()
      const isKnown = isLink || this.#present.has(directoryId) || recreatedDirectories.has(directoryId)
      if (!mayMeanDirectory || isKnown) return refusal
      const isGone = await isDirectoryGone(this.#engine, this.#mirror, this.#connection, directory)
      const found = isGone ? goneDirectories : this.#present
      found.add(directoryId)
      return isGone ? { kind: 'no-directory' } : refusal
    } catch (error) {
      return { kind: 'fatal', error }
    }
  }

  /** Uploads that are refused at the same time share one check. */
  #checkLibrary(): Promise<void> {
    this.#libraryCheck ??= assertLibraryRemains(this.#mirror, this.#connection, this.#engine.signal).then(() => {
      this.#libraryCheck = undefined
    })
    return this.#libraryCheck
  }
}
