import { describe, expect, it, onTestFinished } from 'vitest'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { startEmbeddedInThread } from '../../src/embedded/start-in-thread.ts'
import { LockedError } from '../../src/foundation/errors.ts'
import { ServiceClient } from '../contract/service-client.ts'
import { temporaryDirectory } from './temporary-library.ts'

describe('startEmbeddedInThread', () => {
  it('a worker serves and ingests in its own thread', async () => {
    const library = await startEmbeddedInThread({ dataDir: temporaryDirectory() })
    onTestFinished(() => library[Symbol.asyncDispose]())
    const client = new ServiceClient(library)
    const id = await client.createLibrary()
    const resource = await client.uploaded(id, { name: 'a.txt', content: 'text' })
    expect((await client.processed(id, resource)).ingestion_status).toBe('completed')
  })

  it('errors at the start of a worker keep their type', async () => {
    const dataDir = temporaryDirectory()
    await using _held = await startEmbeddedLibrary({ dataDir })
    await expect(startEmbeddedInThread({ dataDir })).rejects.toThrow(LockedError)
  })

  it('a worker releases its directory when disposed, also twice', async () => {
    const dataDir = temporaryDirectory()
    const library = await startEmbeddedInThread({ dataDir })
    await library[Symbol.asyncDispose]()
    await library[Symbol.asyncDispose]()
    await using again = await startEmbeddedLibrary({ dataDir })
    expect(again.token).toBe(library.token)
    await expect(fetch(library.url)).rejects.toThrow()
  })
})
