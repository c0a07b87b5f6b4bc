import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { titlesIn } from '../support/library-contents.ts'
import { mountSmallDisk } from '../support/mounted-disk.ts'
import { manyFiles } from '../support/temporary.ts'

const FILES = manyFiles(6_000, 6_000)

describe('full disks', () => {
  test('a full disk of the state exits 5 and is named [F-FS-23]', async () => {
    const { service, home } = await homeOnService(FILES)
    using disk = mountSmallDisk(home.stateDir, '1m')
    for (const size of ['1m', '1200k', '1500k']) {
      disk.resize(size)
      expectExit(await home.shelfd(['sync', 'Papers', '--to', 'Research']), 5, home.stateDir)
    }
    expect(service.count('uploadFile')).toBe(0)
    disk.resize('200m')
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research', '--max-new', '50'])
    expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 8, created: 50 })
  })

  test('a full disk of the state holds a daemon until there is room [F-FS-23]', async () => {
    const { service, home } = await homeOnService()
    const path = home.write('Papers', { 'a.md': 'A', 'b.md': 'B' })
    configure(home, { mirrors: [{ name: 'papers', path, library: 'Research', settle: '50ms' }] })
    using disk = mountSmallDisk(home.stateDir, '20m')
    const daemon = await startDaemon(home)
    const full = await daemon.until('it waits for room', ({ isStoreFull }) => isStoreFull)
    expect(full.mirrors[0]).toMatchObject({ state: 'waiting', reason: { code: 'disk-full' } })
    expect(service.count('uploadFile')).toBe(0)
    disk.resize('200m')
    await daemon.until('it continues by itself', (now) => isIdle(now) && service.count('uploadFile') === 2)
    expect((await daemon.stop()).exitCode).toBe(0)
  }, 120_000)

  test('a full disk of the library loses nothing and sends nothing twice [F-FS-23]', async () => {
    const home = temporaryHome()
    // The library compresses what can be compressed. Some 130 small files are under way at a time.
    const files = Array.from(
      { length: 200 },
      (_, index) => [`${index}.md`, randomBytes(60_000).toString('base64')] as const,
    )
    home.write('Papers', Object.fromEntries(files))
    using disk = mountSmallDisk(home.dataDir, '2m')
    // While the library cannot write, its ingestion completes nothing either.
    const { stderr } = expectExit(
      await home.shelfd(['sync', 'Papers', '--no-wait']),
      5,
      `The disk of the library in "${home.dataDir}" is full`,
    )
    expect(stderr.match(/full/g), 'said once').toHaveLength(1)
    expect(stderr).toContain('free space on that disk, then run the same command again')
    const [{ files: left }] = (await home.json(['status'])).mirrors
    expect(left.toSend, 'it stops at the first refusal').toBeGreaterThan(0)
    expect(titlesIn(home).length + left.toSend + left.inDoubt).toBe(200)
    disk.resize('200m')
    await home.shelfd(['failed', 'retry', '--all'])
    expect((await home.sync(['Papers', '--no-wait'])).mirror.uploads).toMatchObject({ failed: 0, inDoubt: 0 })
    const titles = titlesIn(home)
    expect(titles).toEqual(files.map(([name]) => name).sort())
  }, 120_000)
})
