/** The state directory is deleted, replaced, overwritten or unmounted while a run or a daemon sends: it stops, and nothing is sent twice. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import type { FaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { mount } from '../support/mounted-disk.ts'
import { needs } from '../support/needs.ts'

const PATIENT = { timeout: 180_000 }
const FILES = 100
/** The upload during which it happens. */
const AT = 40
/** Uploads that may follow: those under way, and those whose intents were committed before. */
const MAX_AFTER = 40

const MOUNTED_OVER = 'an empty disk is mounted over it'

/** What happens to a state directory; `before` is a copy of it with fewer files. */
const MISHAPS: Readonly<Record<string, (stateDir: string, before: string) => void>> = {
  'its database is deleted': (stateDir) => rmSync(join(stateDir, 'store.db')),
  'its database is overwritten by an older one': (stateDir, before) =>
    copyFileSync(join(before, 'store.db'), join(stateDir, 'store.db')),
  'its database is emptied': (stateDir) => truncateSync(join(stateDir, 'store.db'), 0),
  'its log is deleted': (stateDir) => rmSync(join(stateDir, 'store.db-wal')),
  'its log is emptied': (stateDir) => truncateSync(join(stateDir, 'store.db-wal'), 0),
  'its generation becomes a pipe': (stateDir) => {
    rmSync(join(stateDir, 'generation'))
    execFileSync('mkfifo', [join(stateDir, 'generation')])
  },
  'it is moved away': (stateDir) => renameSync(stateDir, `${stateDir}.away`),
  'an older copy takes its place': (stateDir, before) => {
    renameSync(stateDir, `${stateDir}.away`)
    cpSync(before, stateDir, { recursive: true })
  },
  [MOUNTED_OVER]: (stateDir) => {
    mount(['-t', 'tmpfs', '-o', 'mode=0700', 'tmpfs'], stateDir)
  },
}

function manyFiles(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: FILES }, (_, index) => [`d${index % 7}/${index}.md`, `Text ${index}`]))
}

async function usedHome(): Promise<{ home: Home; service: FaultyService; before: string }> {
  // The oracle of the service fails the test when a content is sent again that was answered as stored.
  const { service, home } = await homeOnService()
  const path = home.write('Papers', { 'first.md': 'first' })
  configure(home, { mirrors: [{ name: 'Papers', path, library: 'Research', settle: '50ms' }] })
  expect((await home.shelfd(['sync'])).exitCode).toBe(0)
  const before = join(home.path, 'before')
  cpSync(home.stateDir, before, { recursive: true })
  // Closing moves what is in the log into the database, which is another one from now on.
  home.write('Papers', { 'second.md': 'second' })
  expect((await home.shelfd(['sync'])).exitCode).toBe(0)
  service.forget()
  return { home, service, before }
}

describe.each(Object.entries(MISHAPS))('a state directory under a sync: %s', (what, mishap) => {
  if (what === MOUNTED_OVER) needs('mounts', 'mount', 'umount')

  test('a sync whose state is lost on the way ends with 78 and sends no more [F-PR-05]', PATIENT, async () => {
    const { home, service, before } = await usedHome()
    home.write('Papers', manyFiles())
    service.onUploadBegun = (nth) => {
      if (nth === AT) mishap(home.stateDir, before)
    }
    expectExit(await home.run(['sync']), 78, /^shelfd: The store in /m)
    expect(service.count('uploadFile')).toBeLessThan(AT + MAX_AFTER)
    // Whatever is there now: it asks, is refused, or goes on without sending anything twice.
    const next = await home.shelfd(['sync'])
    expect([0, 8, 78]).toContain(next.exitCode)
    expect(service.count('uploadFile')).toBeLessThanOrEqual(FILES)
  })
})

describe('a state directory under a daemon', () => {
  // Together, since a daemon looks at its files only every few seconds.
  test('a daemon whose state is overwritten or loses its log ends by itself with 78 [F-PR-05]', PATIENT, async () => {
    const overwrite = (stateDir: string, before: string) => cpSync(before, stateDir, { recursive: true })
    const loseLog = (stateDir: string) => rmSync(join(stateDir, 'store.db-wal'))
    await Promise.all(
      [overwrite, loseLog].map(async (mishap) => {
        const { home, service, before } = await usedHome()
        const daemon = await startDaemon(home)
        home.write('Papers', manyFiles())
        await daemon.until('all is sent', (now) => isIdle(now) && service.count('uploadFile') === FILES)
        mishap(home.stateDir, before)
        expectExit(await daemon.ended, 78, /^shelfd: The store in .* while it was in use/m, mishap.name)
      }),
    )
  })

  test('a daemon whose state is unmounted ends by itself with 78 [F-PR-05]', PATIENT, async () => {
    const { service, home } = await homeOnService()
    const path = home.write('Papers', { 'first.md': 'first' })
    configure(home, { mirrors: [{ name: 'Papers', path, library: 'Research', settle: '50ms' }] })
    const disk = mount(['-t', 'tmpfs', '-o', 'mode=0700', 'tmpfs'], home.stateDir)
    const daemon = await startDaemon(home)
    await daemon.until('it is sent', (now) => isIdle(now) && service.count('uploadFile') === 1)
    disk[Symbol.dispose]()
    home.write('Papers', manyFiles())
    expectExit(await daemon.ended, 78, /^shelfd: The store in .* was deleted or replaced/m)
    expect(service.count('uploadFile')).toBe(1)
  })
})
