import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { type Logger, silentLogger } from '../../../src/foundation/logger.ts'
import { pluck } from '../../contract/service-client.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { mountSmallDisk } from '../../support/mounted-disk.ts'
import { startLibrary, temporaryDirectory } from '../temporary-library.ts'

/** Fills the disk to its last byte; disposing makes room again. */
function fillDisk(directory: string): Disposable {
  const ballast = join(directory, 'ballast')
  for (const size of [65_536, 1]) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(size))
    } catch {
      // The disk has no space for this size any more.
    }
  }
  return { [Symbol.dispose]: () => rmSync(ballast) }
}

/** A library on a disk of its own. */
async function onSmallDisk(options: Parameters<typeof startLibrary>[0] = {}) {
  const disk = join(temporaryDirectory(), 'disk')
  mountSmallDisk(disk, '8m')
  const dataDir = join(disk, 'library')
  const started = await startLibrary({ ...options, dataDir })
  return { ...started, id: await started.client.createLibrary() }
}

describe('a full disk of the embedded library', () => {
  it.each([1, 100_000])('a full disk answers uploads of %i bytes with 507 [F-FS-23]', async (size) => {
    const { client, id, dataDir } = await onSmallDisk()
    const file = { name: 'a.bin', type: 'image/png', content: 'x'.repeat(size) }
    const full = fillDisk(dataDir)
    const answer = await client.upload(id, file)
    expect(answer).toMatchObject({ status: 507, json: { message: 'The disk of the library is full' } })
    expect((await client.call('POST', '/libraries', { name: 'other' })).status).toBe(507)
    expect((await client.listing(id, { path: '/.inbox' })).json.files).toEqual([])
    full[Symbol.dispose]()
    expect((await client.upload(id, file)).status).toBe(201)
  })

  it('a full disk holds ingestion until it has room [F-FS-23]', async () => {
    const clock = manualClock()
    const errors: string[] = []
    const logger: Logger = { ...silentLogger, error: (message) => errors.push(message) }
    const { client, id, dataDir } = await onSmallDisk({ clock, logger })
    const text = 'zebra '.repeat(10_000)
    const ids: string[] = []
    for (const type of ['text/plain', 'text/html'])
      ids.push(await client.uploaded(id, { name: 'a', type, content: text }))
    const states = async () => {
      const found = []
      for (const resource of ids) found.push((await client.get(`/libraries/${id}/resources/${resource}`)).json)
      return pluck(found, 'ingestion_status')
    }
    /** Moves the clock of the service in steps, with real time for the work of each. */
    const passTime = async (seconds: number) => {
      for (let tenths = 0; tenths < seconds * 10; tenths += 1) {
        await clock.advance(100)
        await systemClock.sleep(2)
      }
    }
    const full = fillDisk(dataDir)
    while (errors.length < 2) await passTime(0.1)
    await passTime(20)
    expect(await states()).toEqual([
      expect.stringMatching(/^(not_started|running)$/),
      expect.stringMatching(/^(not_started|running)$/),
    ])
    expect(errors).toEqual(['Cannot continue ingestion; trying again', 'Cannot continue ingestion; trying again'])
    full[Symbol.dispose]()
    while ((await states()).some((state) => state !== 'completed')) await passTime(0.1)
    expect((await client.get('/search/resources?query=zebra')).json.results).toHaveLength(2)
  })
})
