import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EMBEDDED_CAPABILITIES } from '../../src/app/service-client/open-service.ts'
import { ingestionOutcome } from '../../src/contract/states.ts'
import { type EmbeddedLibrary, startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { systemClock } from '../../src/foundation/clock.ts'
import type { ServiceClient } from '../../src/remote/service-client.ts'
import { clientOf, collect, thrownBy, uploadOf } from './support.ts'

const BYTES = Buffer.from('# Bees\n\nBees dance to tell the way to flowers.\n')

describe('the client on the embedded service', () => {
  let directory: string
  let service: EmbeddedLibrary
  let client: ServiceClient
  let libraryId: string

  const upload = (fileName: string, bytes: Uint8Array, directoryPath = '/Papers') =>
    client.uploadFile(uploadOf(() => bytes, { libraryId, fileName, directoryPath, sizeBytes: bytes.length }))

  /** The ingestion status in which a resource ends. */
  const followed = async (id: string) => {
    for (;;) {
      const { ingestion_status: status } = await client.showResource(libraryId, id)
      if (ingestionOutcome(status) !== 'pending') return status
    }
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'shelfd-client-'))
    service = await startEmbeddedLibrary({ dataDir: directory })
    client = clientOf(service.url, { token: service.token, clock: systemClock })
    libraryId = (await client.createLibrary('Research', 'Papers of all kinds')).id
    await client.createDirectory(libraryId, '/Papers')
  })

  afterAll(async () => {
    await client.close()
    await service[Symbol.asyncDispose]()
    await rm(directory, { recursive: true })
  })

  it('the client reads capabilities from the description of the service', async () => {
    const facts = await client.capabilities()
    expect(facts.describedVersion).toBe('0.9.0')
    const source = 'openapi'
    // Who uses this library without reading its description takes the same fields.
    const { createDirectory, createLibrary, uploadDirectoryField } = EMBEDDED_CAPABILITIES
    expect(facts).toMatchObject({
      createDirectory: { ...createDirectory, source },
      createLibrary: { ...createLibrary, source },
      uploadDirectoryField: { ...uploadDirectoryField, source },
    })
  })

  it('the client checks its access', async () => {
    expect((await client.checkAccess()).abilities).toContain('library.create')
  })

  it('the client shows and lists the library that it created', async () => {
    expect(await client.showLibrary(libraryId)).toMatchObject({ name: 'Research', overview: 'Papers of all kinds' })
    expect((await collect(client.listLibraries())).map(({ id }) => id)).toContain(libraryId)
  })

  it('the client makes each directory once', async () => {
    expect(await client.createDirectory(libraryId, '/Papers/ä "b"')).toBe('created')
    expect(await client.createDirectory(libraryId, '/Papers/ä "b"')).toBe('existing')
    const pages = await collect(client.listDirectory(libraryId, '/Papers'))
    expect(pages.flatMap(({ folders }) => folders.map(({ name }) => name))).toEqual(['ä "b"'])
  })

  it('the client uploads a content once and follows it', async () => {
    const first = await upload('bees.md', BYTES)
    const second = await upload('again.md', BYTES)
    expect(second).toMatchObject({ id: first.id, duplicate: true })
    expect(await followed(first.id)).toBe('completed')
  })

  it('the client downloads exactly what it uploaded', async () => {
    const large = Buffer.from('0123456789abcdef\n'.repeat(60_000))
    const { id } = await upload('large "1".txt', large)
    const { body, sizeBytes } = await client.downloadResource(id)
    expect(Buffer.concat(await collect(body)).equals(large)).toBe(true)
    expect(sizeBytes).toBe(large.length)
  })

  it('the client finds what it uploaded, and its assets', async () => {
    const { id } = await upload('bees.md', BYTES)
    await followed(id)
    const found = await client.searchResources({ query: 'dance', libraryIds: [libraryId], strategy: 'lexical' })
    const resource = found.results.map((hit) => hit.resource).find((hit) => hit.id === id)
    const asset = resource?.assets?.[0]?.id
    if (asset === undefined) throw new Error('the hit has no asset')
    const { body } = await client.downloadAsset(asset)
    expect(Buffer.concat(await collect(body)).toString()).toContain('dance')
    expect((await client.createAssetViewUrl(asset, { ttlMinutes: 5 })).expires_in_minutes).toBe(5)
    expect(await thrownBy(client.downloadRepresentation(asset, 'frame', 1))).toMatchObject({ kind: 'request' })
  })

  it('a view URL works as the client returns it', async () => {
    const { id } = await upload('bees.md', BYTES)
    const { url } = await client.createResourceViewUrl(id, { ttlMinutes: 5 })
    expect(await (await fetch(url)).text()).toBe(BYTES.toString())
  })

  it('the client calls any path that the user asks for', async () => {
    const answer = await client.callRaw('GET', '/v1/auth/check', undefined)
    expect(JSON.parse(Buffer.from(answer.body).toString())).toMatchObject({ grant_type: 'access_token' })
  })

  it('the client turns refusals of the service into errors with codes', async () => {
    const failure = await thrownBy(client.showLibrary('nowhere'))
    expect(failure).toMatchObject({ kind: 'request', code: 'not-found' })
    const otherClient = clientOf(service.url, { token: 'someone-else' })
    expect(await thrownBy(otherClient.checkAccess())).toMatchObject({ code: 'credential-refused' })
    await otherClient.close()
  })

  it('the client deletes a library', async () => {
    const { id } = await client.createLibrary('Scratch', null)
    await client.deleteLibrary(id)
    expect(await thrownBy(client.showLibrary(id))).toMatchObject({ code: 'not-found' })
  })
})
