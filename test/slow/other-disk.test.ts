/** Real file systems, mounted one after the other at one place, as removable disks are. */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectExit } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { titlesIn } from '../support/library-contents.ts'
import { makeDisk, mount, mountSmallDisk } from '../support/mounted-disk.ts'
import { writeTree } from '../support/temporary.ts'

function mountDisk(image: string, at: string): Disposable {
  return mount(['-o', 'loop', image], at)
}

test('another disk in memory at the same mount point is not sent, however few files were there [P15]', async () => {
  const { service, home } = await homeOnService()
  const at = join(home.path, 'Papers')
  const mountWith = (name: string, count: number) => {
    const mounted = mountSmallDisk(at, '4m')
    const { dev, ino } = statSync(at)
    writeTree(
      at,
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}-${index}.md`, `${name} ${index}`])),
    )
    return { ...mounted, identity: `${dev} ${ino}` }
  }
  const mine = mountWith('mine', 3)
  expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(0)
  mine[Symbol.dispose]()
  let other = mountWith('private', 40)
  // The kernel gives the lowest number that is free; another test may have freed a lower one.
  for (let tries = 0; other.identity !== mine.identity && tries < 20; tries += 1) other = mountWith('private', 40)
  expect(other.identity).toBe(mine.identity)
  expectExit(await home.shelfd(['sync', 'Papers']), 7, /The file system that is mounted/)
  expect(titlesIn(service)).toEqual(['mine-0.md', 'mine-1.md', 'mine-2.md'])
})

test('another disk at the same mount point is not sent [P12]', async () => {
  const { service, home } = await homeOnService()
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
    expectExit(await home.shelfd(['sync', 'Papers']), 7, /The file system that is mounted/)
    expect(titlesIn(service)).toEqual(['mine.md'])
  }
  {
    using _mine = mountDisk(mine, at)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
  }
  {
    using _other = mountDisk(other, at)
    expect((await home.sync(['Papers', '--accept-root', '--accept-removals'])).exitCode).toBe(0)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    expect(titlesIn(service)).toEqual(['mine.md', 'private.md'])
  }
})
