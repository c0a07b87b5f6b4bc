import { afterAll, beforeAll } from 'vitest'
import { type EmbeddedLibrary, startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../contract/service-client.ts'
import { makeDirectory } from './temporary-library.ts'

export interface SharedLibrary {
  readonly client: ServiceClient
  /** An empty library. */
  newLibrary(): Promise<string>
}

/** One service for all tests of a file; use the result inside tests. */
export function shareLibrary(): SharedLibrary {
  const { directory, remove } = makeDirectory()
  let service: EmbeddedLibrary
  beforeAll(async () => {
    service = await startEmbeddedLibrary({ dataDir: directory })
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    remove()
  })
  return {
    get client() {
      return new ServiceClient(service)
    },
    newLibrary: () => new ServiceClient(service).createLibrary(),
  }
}
