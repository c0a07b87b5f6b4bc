import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluck } from '../../contract/service-client.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startLibrary } from '../temporary-library.ts'

const LARGE = 'large '.repeat(50_000)

function storedFiles(dataDir: string): string[] {
  return ['files', 'tmp'].flatMap((folder) =>
    readdirSync(join(dataDir, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${folder}/${entry.name}`),
  )
}

/** A form without a declared length, whose last part is sent once `beforeEnd` has resolved. */
function endlessForm(size: number, beforeEnd = async () => {}): RequestInit & { duplex: 'half' } {
  const pieces = async function* () {
    yield '--B\r\nContent-Disposition: form-data; name="file"; filename="e"\r\n\r\n'
    for (let sent = 0; sent < size; sent += 1_000) yield 'x'.repeat(1_000)
    await beforeEnd()
    yield '\r\n--B--'
  }
  const body = ReadableStream.from(pieces()).pipeThrough(new TextEncoderStream())
  return { method: 'POST', body, duplex: 'half', headers: { 'content-type': 'multipart/form-data; boundary=B' } }
}

describe('uploads to the embedded library', () => {
  it('an upload leaves nothing when its connection breaks', async () => {
    const { dataDir, library, client, stop } = await startLibrary()
    const id = await client.createLibrary()
    const { hostname, port } = new URL(library.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /api/v1/libraries/${id}/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${library.token}\r\n` +
        'Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 9999999\r\n\r\n' +
        `--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${LARGE}`,
    )
    while (storedFiles(dataDir).length === 0) await client.get('/auth/check')
    socket.destroy()
    await once(socket, 'close')
    while (storedFiles(dataDir).length > 0) await client.get('/auth/check')
    expect((await client.listing(id, { path: '/.inbox' })).json.files).toEqual([])
    await stop()
  })

  it('an upload above the greatest size is refused', async () => {
    const { dataDir, client } = await startLibrary({ maxUploadBytes: 100_000 })
    const id = await client.createLibrary()
    expect((await client.upload(id, { name: 'a', content: 'x'.repeat(100_000) })).status).toBe(201)
    expect((await client.upload(id, { name: 'b', content: 'y'.repeat(100_001) })).status).toBe(413)
    expect((await client.upload(id, { name: 'c', content: 'z'.repeat(340_000) })).status).toBe(413)
    expect((await client.upload(id, { name: 'd', content: 'z'.repeat(5_000_000) })).status).toBe(413)
    expect((await client.send(`/libraries/${id}/files`, endlessForm(5_000_000))).status).toBe(413)
    expect(pluck((await client.listing(id, { path: '/.inbox' })).json.files, 'title')).toEqual(['a'])
    expect(storedFiles(dataDir)).toHaveLength(1)
  })

  it('large bytes are kept until their last library is deleted', async () => {
    const { dataDir, client, library } = await startLibrary()
    const [one, two] = [await client.createLibrary(), await client.createLibrary()]
    await client.uploaded(one, { name: 'a', content: LARGE })
    const kept = await client.uploaded(two, { name: 'a', content: LARGE })
    expect(storedFiles(dataDir)).toHaveLength(1)
    await client.call('DELETE', `/libraries/${one}`)
    await library.settled()
    expect((await client.get(`/resources/${kept}`)).text).toBe(LARGE)
    await client.call('DELETE', `/libraries/${two}`)
    await library.settled()
    expect(storedFiles(dataDir)).toEqual([])
  })

  it('an upload into a library that was deleted meanwhile leaves no file', async () => {
    // Time does not pass, so removal waits after its first piece, with the directories of the library.
    const { dataDir, client } = await startLibrary({ clock: manualClock() })
    const id = await client.createLibrary()
    for (let number = 0; number < 200; number += 1)
      await client.call('POST', `/libraries/${id}/directory`, { path: `/${number}` })
    const form = endlessForm(300_000, async () => void (await client.call('DELETE', `/libraries/${id}`)))
    const { status, json } = await client.send(`/libraries/${id}/files`, form)
    expect([status, json.message]).toEqual([404, expect.stringContaining('Library')])
    expect(storedFiles(dataDir)).toEqual([])
  })

  it('a lost file is answered with 500 as JSON', async () => {
    const { dataDir, client } = await startLibrary()
    const id = await client.createLibrary()
    const lost = await client.uploaded(id, { name: 'a', type: 'image/png', content: LARGE })
    rmSync(join(dataDir, 'files'), { recursive: true })
    const { status, json } = await client.get(`/resources/${lost}`)
    expect({ status, json }).toEqual({ status: 500, json: { message: 'Internal error' } })
  })

  it('simultaneous equal large uploads make one resource', async () => {
    const { dataDir, client } = await startLibrary()
    const id = await client.createLibrary()
    const twins = await Promise.all(['a', 'b', 'c'].map((name) => client.uploaded(id, { name, content: LARGE })))
    expect(new Set(twins).size).toBe(1)
    expect(storedFiles(dataDir)).toHaveLength(1)
  })
})
