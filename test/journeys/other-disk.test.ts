/** Real file systems, mounted one after the other at one place, as removable disks are. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { makeDisk, mayMount, mount } from '../support/mounted-disk.ts'

function mountDisk(image: string, at: string): Disposable {
  return mount(['-o', 'loop', image], at)
}

test.runIf(mayMount)('another disk at the same mount point is not sent', async () => {
  const service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome(service)
  const at = join(home.path, 'Papers')
  mkdirSync(at)
  const [mine, other] = [join(home.path, 'mine.img'), join(home.path, 'other.img')]
  makeDisk(mine, 1_700_000_000, at, { 'mine.md': 'on my own disk' })
  makeDisk(other, 1_700_000_001, at, { 'private.md': 'on the other disk' })
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
