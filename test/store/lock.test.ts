import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LockedError } from '../../src/foundation/errors.ts'
import { openStore, openStoreReader } from '../../src/store/open-store.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { homeWithPapers } from '../support/home.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** What a person or program may do to the lock file of a running daemon. */
const MISHAPS: Readonly<Record<string, (lock: string) => void>> = {
  deleted: (lock) => rmSync(lock),
  'replaced by an empty one': (lock) => {
    rmSync(lock)
    writeFileSync(lock, '')
  },
  'replaced by a copy of itself': (lock) => {
    copyFileSync(lock, `${lock}.copy`)
    renameSync(`${lock}.copy`, lock)
  },
  'moved away': (lock) => renameSync(lock, `${lock}.away`),
}

describe.each(Object.entries(MISHAPS))('a lock file that is %s', (_, damage) => {
  test('a damaged lock file lets nobody else in [P16, F-PR-11]', () => {
    const directory = temporaryDirectory()
    const holder = openStore(directory)
    damage(join(directory, 'lock'))
    expect(() => openStore(directory)).toThrow(LockedError)
    expect(() => openStore(directory), 'nor by the lock file that the first try made').toThrow(LockedError)
    holder[Symbol.dispose]()
    openStore(directory)[Symbol.dispose]()
  })

  test('a damaged lock file does not prevent opening a closed store [P16]', () => {
    const directory = temporaryDirectory()
    openStore(directory)[Symbol.dispose]()
    damage(join(directory, 'lock'))
    openStore(directory)[Symbol.dispose]()
    using _reader = openStoreReader(directory)
    openStore(directory)[Symbol.dispose]()
  })
})

test('a lock file deleted during a run lets no other process in [P16, F-PR-11]', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const home = homeWithPapers({ 'a.md': 'A' }, service)
  const to = ['Papers', '--to', 'Research']
  let second: Promise<{ exitCode: number | null }> | undefined
  service.onUploadBegun = async () => {
    rmSync(join(home.stateDir, 'lock'))
    second = home.run(['sync', ...to])
    await second
  }
  expect((await home.sync(to)).exitCode).toBe(0)
  expect((await second)?.exitCode).toBe(11)
  expect(service.count('uploadFile')).toBe(1)
})
