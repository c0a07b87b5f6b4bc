/** Real file systems, mounted one after the other at one place, as removable disks are. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { mayMount, mount } from '../support/mounted-disk.ts'

/** A disk with one file, made at this time (seconds since the Unix epoch). */
function makeDisk(image: string, at: string, madeAt: number, file: string): void {
  writeFileSync(image, '')
  execFileSync('truncate', ['--size=8M', image])
  execFileSync('mke2fs', ['-q', '-t', 'ext4', image], { env: { ...process.env, E2FSPROGS_FAKE_TIME: String(madeAt) } })
  using _mounted = mountDisk(image, at)
  writeFileSync(join(at, file), `what ${file} says`)
}

function mountDisk(image: string, at: string): Disposable {
  return mount(['-o', 'loop', image], at)
}

test.runIf(mayMount)('another disk at the same mount point is not sent', async () => {
  const service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome(service)
  const at = join(home.path, 'Papers')
  mkdirSync(at)
  const [mine, other] = [join(home.path, 'mine.img'), join(home.path, 'other.img')]
  makeDisk(mine, at, 1_700_000_000, 'mine.md')
  makeDisk(other, at, 1_700_000_001, 'private.md')
  {
    using _mine = mountDisk(mine, at)
    expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(0)
  }
  {
    using _other = mountDisk(other, at)
    const { exitCode, stderr } = await home.shelfd(['sync', 'Papers'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 7, stderr: expect.stringMatching(/Another file system/) })
    expect(readLibrary(service.dataDir).map(({ title }) => title)).toEqual(['mine.md'])
  }
  {
    using _mine = mountDisk(mine, at)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
  }
  {
    using _other = mountDisk(other, at)
    expect((await home.sync(['Papers', '--accept-root', '--accept-removals'])).exitCode).toBe(0)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    expect(readLibrary(service.dataDir).map(({ title }) => title)).toEqual(['mine.md', 'private.md'])
  }
})
