import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { LockedError, OperatorError } from '../../src/foundation/errors.ts'
import { pluck } from '../contract/service-client.ts'
import { startLibrary } from './temporary-library.ts'

const openedDatabase = (dataDir: string) => new Database(join(dataDir, 'library.sqlite'))

function damage(dataDir: string): Buffer {
  const file = join(dataDir, 'library.sqlite')
  const damaged = readFileSync(file).fill(0x5a, 4_096, 20_000)
  writeFileSync(file, damaged)
  return damaged
}

/** An address of this machine that others may reach, if it has one. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.flatMap(({ address, family, internal }) => (internal || family !== 'IPv4' ? [] : [address])).slice(0, 1)
}

describe('startEmbeddedLibrary', () => {
  it('the data directory and its files are private [S-05]', async () => {
    const { dataDir, client } = await startLibrary()
    await client.uploaded(await client.createLibrary(), { name: 'a.bin', content: 'x'.repeat(100_000) })
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    for (const entry of readdirSync(dataDir, { withFileTypes: true, recursive: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
      expect({ name: entry.name, mode }).toEqual({ name: entry.name, mode: entry.isDirectory() ? 0o700 : 0o600 })
    }
  })

  it('the database keeps only a hash of the token', async () => {
    const { dataDir, library, stop } = await startLibrary()
    expect(readFileSync(library.tokenFile, 'utf8').trim()).toBe(library.token)
    await stop()
    // The secret itself may contain underscores.
    const secret = library.token.slice('kls_0123456789abcdef_'.length)
    expect(secret).toHaveLength(43)
    expect(readFileSync(join(dataDir, 'library.sqlite')).includes(secret)).toBe(false)
  })

  it.each(['127.0.0.1', ...ownAddresses()])('a connection that cannot be accepted ends no other: %s', async (host) => {
    const listening = vi.spyOn(Server.prototype, 'listen')
    onTestFinished(() => listening.mockRestore())
    const { library } = await startLibrary({ host })
    const servers = new Set(listening.mock.contexts as Server[])
    // Another one answers this machine where the first listens elsewhere.
    expect(servers.size).toBe(host === '127.0.0.1' ? 1 : 2)
    for (const server of servers) server.emit('error', new Error('accept ENOMEM'))
    expect((await fetch(library.documentationUrl)).status).toBe(200)
  })

  it('a second process cannot serve the same directory', async () => {
    const { dataDir, library } = await startLibrary()
    await expect(startEmbeddedLibrary({ dataDir })).rejects.toThrow(LockedError)
    expect((await fetch(library.documentationUrl)).status).toBe(200)
  })

  it('a restart gives the same library', async () => {
    const first = await startLibrary()
    const library = await first.client.createLibrary()
    const resource = await first.client.uploaded(library, { name: 'a.txt', content: 'kept' })
    await first.stop()
    const second = await startLibrary({ dataDir: first.dataDir })
    expect(second.library.token).toBe(first.library.token)
    expect(second.library.instanceId).toBe(first.library.instanceId)
    expect((await second.client.get(`/resources/${resource}`)).text).toBe('kept')
  })

  it('interrupted ingestion continues at start', async () => {
    const first = await startLibrary()
    const library = await first.client.createLibrary()
    const ids: string[] = []
    for (const name of ['a', 'b']) {
      ids.push(await first.client.uploaded(library, { name, content: `zebra ${name}\n`.repeat(400) }))
    }
    await first.client.processed(library, ids[0] ?? '')
    await first.stop()
    const database = openedDatabase(first.dataDir)
    database.exec("UPDATE resource SET status = CASE title WHEN 'a' THEN 'running' ELSE 'not_started' END")
    database.exec(
      "DELETE FROM passage_words WHERE rowid IN (SELECT id FROM passage WHERE resource_id = (SELECT id FROM resource WHERE title = 'b'))",
    )
    database.exec("DELETE FROM passage WHERE resource_id = (SELECT id FROM resource WHERE title = 'b')")
    database.close()
    const second = await startLibrary({ dataDir: first.dataDir })
    for (const id of ids) {
      const { ingestion_status: status, assets } = await second.client.processed(library, id)
      expect({ status, assets }).toEqual({ status: 'completed', assets: expect.objectContaining({ length: 2 }) })
    }
    expect((await second.client.get('/search/resources?query=zebra')).json.results).toHaveLength(2)
  })

  it('a stop amid a large text continues at the next start', async () => {
    const first = await startLibrary()
    const library = await first.client.createLibrary()
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`)
    const id = await first.client.uploaded(library, { name: 'large.txt', content: lines.join('\n') })
    const state = async () => (await first.client.get(`/libraries/${library}/resources/${id}`)).json.assets
    while (pluck(await state(), 'id').length === 0);
    await first.stop()
    const second = await startLibrary({ dataDir: first.dataDir })
    expect((await second.client.processed(library, id)).ingestion_status).toBe('completed')
    const { json } = await second.client.get('/search/resources?query="line+99999"')
    expect(json.results).toEqual([
      { resource: expect.objectContaining({ id, assets: expect.objectContaining({ length: 1 }) }) },
    ])
  })

  it('a database damaged while it was closed is refused', async () => {
    const { dataDir, stop } = await startLibrary()
    await stop()
    damage(dataDir)
    await expect(startEmbeddedLibrary({ dataDir })).rejects.toMatchObject({ code: 'library-damaged' })
  })

  it('a database left open is checked before any write', async () => {
    const { dataDir, stop } = await startLibrary()
    await stop()
    const damaged = damage(dataDir)
    writeFileSync(join(dataDir, 'library.sqlite-wal'), '')
    await expect(startEmbeddedLibrary({ dataDir })).rejects.toMatchObject({ code: 'library-damaged' })
    expect(readFileSync(join(dataDir, 'library.sqlite')).equals(damaged)).toBe(true)
  })

  it('any page overwritten before an unclean stop is noticed', async () => {
    const first = await startLibrary()
    const library = await first.client.createLibrary()
    const words = Array.from({ length: 3_000 }, (_, index) => `w${index}`)
    await first.client.processed(library, await first.client.uploaded(library, { name: 'a', content: words.join(' ') }))
    await first.stop()
    const file = join(first.dataDir, 'library.sqlite')
    const whole = readFileSync(file)
    const pageBytes = whole.readUInt16BE(16)
    for (let start = pageBytes; start < whole.length; start += pageBytes) {
      writeFileSync(file, Buffer.from(whole).fill(0, start, start + pageBytes))
      writeFileSync(`${file}-wal`, '')
      const started = startEmbeddedLibrary({ dataDir: first.dataDir })
      await expect(started, `page at ${start}`).rejects.toMatchObject({ code: 'library-damaged' })
    }
    writeFileSync(file, whole)
    writeFileSync(`${file}-wal`, '')
    expect((await (await startLibrary({ dataDir: first.dataDir })).client.get('/libraries')).status).toBe(200)
  })

  it('a missing database is not created anew', async () => {
    const { dataDir, stop } = await startLibrary()
    await stop()
    rmSync(join(dataDir, 'library.sqlite'))
    await expect(startEmbeddedLibrary({ dataDir })).rejects.toThrow(OperatorError)
    await expect(startEmbeddedLibrary({ dataDir })).rejects.toMatchObject({ code: 'library-damaged' })
  })

  it('a database of a newer version is refused', async () => {
    const { dataDir, stop } = await startLibrary()
    await stop()
    const database = openedDatabase(dataDir)
    database.pragma('user_version = 999')
    database.close()
    await expect(startEmbeddedLibrary({ dataDir })).rejects.toMatchObject({ code: 'store-newer' })
  })

  it('a lost owner token is replaced by a new one', async () => {
    const first = await startLibrary()
    await first.stop()
    rmSync(first.library.tokenFile)
    const second = await startLibrary({ dataDir: first.dataDir })
    expect(second.library.token).not.toBe(first.library.token)
    const asked = await fetch(`${second.library.url}/api/v1/auth/check`, {
      headers: { authorization: `Bearer ${first.library.token}` },
    })
    expect(asked.status).toBe(401)
    expect((await second.client.get('/auth/check')).status).toBe(200)
  })
})
