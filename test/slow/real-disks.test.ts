/** Real file systems under the mirror: a read-only one, and two that are swapped during a sync. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary, titlesIn } from '../support/library-contents.ts'
import { makeDisk, mount } from '../support/mounted-disk.ts'
import { needs } from '../support/needs.ts'
import { manyFiles } from '../support/temporary.ts'

const SYNC = ['sync', 'Papers', '--to', 'Research']
const FILES = 12

async function openHome() {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
  const home = temporaryHome(service)
  const at = join(home.path, 'Papers')
  mkdirSync(at)
  return { service, home, at }
}

describe('mirrors on mounted disks', () => {
  needs('mounts', 'mount')

  test('a read-only disk is mirrored [P8]', async () => {
    const { service, home, at } = await openHome()
    using _papers = mount(['--bind', home.write('Sources', manyFiles(FILES, FILES))], at)
    execFileSync('mount', ['-o', 'remount,ro,bind', at])
    expect(() => writeFileSync(join(at, 'new'), '')).toThrow(/EROFS/)
    expect(await home.run(SYNC)).toMatchObject({ exitCode: 0 })
    expect(readLibrary(service.dataDir)).toHaveLength(FILES)
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('two disks swapped during a sync are never mixed [P12]', async () => {
    const { service, home, at } = await openHome()
    const names = Array.from({ length: FILES }, (_, index) => `${index}.md`)
    // Each disk has its loop device from the beginning: to set one up while another is being freed may fail.
    const [mine, other] = ['mine', 'other'].map((owner, index) => {
      const image = join(home.path, `${owner}.img`)
      makeDisk(image, 1_700_000_000 + index, at, Object.fromEntries(names.map((name) => [name, `${owner} ${name}`])))
      const disk = join(home.path, 'disks', owner)
      mount(['-o', 'loop', image], disk)
      return ['--bind', disk]
    })
    if (!mine || !other) throw new Error('No disks')
    let mounted = mount(mine, at)
    let begun = 0
    let isSwapped = false
    service.onUploadBegun = () => {
      begun += 1
      if (begun !== 3) return
      mounted[Symbol.dispose]()
      mounted = mount(other, at)
      isSwapped = true
    }
    const swapped = await home.run(SYNC)
    expect(isSwapped, 'a mount failed').toBe(true)
    expect(swapped.exitCode, swapped.stdout).not.toBe(0)
    expect(await home.shelfd(SYNC)).toMatchObject({ exitCode: 7 })
    mounted[Symbol.dispose]()
    expect(await home.shelfd(SYNC)).toMatchObject({ exitCode: 7 })
    mounted = mount(mine, at)
    expect(await home.shelfd(SYNC)).toMatchObject({ exitCode: 0 })
    const titles = titlesIn(service)
    expect(titles).toEqual(names.sort())
    expect(await home.shelfd(['report', '--check', '--fail-on', 'superseded,remote-only'])).toMatchObject({
      exitCode: 0,
    })
  })
})
