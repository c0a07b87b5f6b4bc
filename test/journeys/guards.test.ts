import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { expectExit, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles } from '../support/temporary.ts'

const TO = ['Papers', '--to', 'Research']

async function mirroredHome(files: number) {
  const { service, home, root } = await homeOnService(manyFiles(files, files))
  expect((await home.sync(TO)).exitCode).toBe(0)
  service.forget()
  return { service, home, root }
}

describe('lost files (P12)', () => {
  test('a root that lost all files halts and records nothing, unless the loss is accepted [P12]', async () => {
    const { service, home, root } = await mirroredHome(30)
    const before = dumpStore(home.stateDir)
    for (let index = 0; index < 7; index += 1) rmSync(join(root, `d${index}`), { recursive: true })
    expectExit(await home.shelfd(['sync', ...TO]), 8, /Papers/)
    expect(dumpStore(home.stateDir).file).toEqual(before.file)
    const { exitCode, mirror } = await home.sync([...TO, '--accept-removals'])
    expect({ exitCode, removed: mirror.files.removed }).toEqual({ exitCode: 0, removed: 30 })
    expect(service.count('uploadFile')).toBe(0)
    expect((await home.sync(TO)).exitCode).toBe(0)
  })

  test('a command that a message suggests quotes a name with a blank', async () => {
    const home = temporaryHome()
    const root = home.write('My Papers', manyFiles(30, 30))
    await home.sync(['My Papers'])
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
    expectExit(await home.shelfd(['sync', 'My Papers']), 8, `"shelfd sync 'My Papers' --accept-removals"`)
  })

  test('a run that halts counts no file as removed [P12]', async () => {
    const { home, root } = await mirroredHome(30)
    const before = dumpStore(home.stateDir)
    for (let index = 1; index < 7; index += 1) rmSync(join(root, `d${index}`), { recursive: true })
    const { exitCode, mirror } = await home.sync(TO)
    const files = { scanned: 5, unchanged: 5, new: 0, moved: 0, removed: 0 }
    expect({ exitCode, files: mirror.files }).toMatchObject({ exitCode: 8, files })
    expect(dumpStore(home.stateDir)).toMatchObject({ file: before.file, history: before.history })
    const { stdout } = await home.shelfd(['sync', ...TO])
    expect(stdout).not.toMatch(/removed/)
  })

  test('a root of four files or fewer may lose all of them', async () => {
    const { service, home, root } = await mirroredHome(1)
    rmSync(join(root, 'd0'), { recursive: true })
    const { exitCode, mirror } = await home.sync(TO)
    expect({ exitCode, removed: mirror.files.removed }).toEqual({ exitCode: 0, removed: 1 })
    const { stdout } = await home.shelfd(['report', '--format', 'combined'])
    expect({ stdout, sent: service.count('uploadFile') }).toEqual({ stdout: '^ d0/e0/file-0.md\n', sent: 0 })
  })

  test('new files in the place of all known ones are not sent before somebody confirms, however few [P12]', async () => {
    const { service, home, root } = await mirroredHome(2)
    const before = dumpStore(home.stateDir)
    const aside = `${root}.aside`
    const [mine, others] = [readdirSync(root), manyFiles(40, 40)]
    mkdirSync(aside)
    for (const name of mine) renameSync(join(root, name), join(aside, name))
    const strangers = Object.entries(others).map(([path, text]) => [`new/${path}`, `private ${text}`])
    home.write('Papers', Object.fromEntries(strangers))
    // The second time, the new files are no longer new to the store.
    for (let times = 0; times < 2; times += 1) {
      const { exitCode, stderr, mirror } = await home.sync(TO)
      expect({ exitCode, removed: mirror.files.removed }).toEqual({ exitCode: 8, removed: 0 })
      expect(stderr).toMatch(
        /all 2 files \("d0\/e0\/file-0\.md", "d1\/e1\/file-1\.md"\) are gone, and 40 others are there \("new\/d0\/.*--accept-removals/,
      )
    }
    expect(service.count('uploadFile')).toBe(0)
    expect(dumpStore(home.stateDir).history).toEqual(before.history)

    // What comes back by itself is no question, and what was there meanwhile no loss.
    renameSync(join(root, 'new'), join(aside, 'new'))
    for (const name of mine) renameSync(join(aside, name), join(root, name))
    const back = await home.sync(TO)
    expect({ exitCode: back.exitCode, ...back.mirror.files }).toMatchObject({ exitCode: 0, unchanged: 2, removed: 0 })
    expect(dumpStore(home.stateDir).file).toEqual(before.file)

    for (const name of mine) rmSync(join(root, name), { recursive: true })
    renameSync(join(aside, 'new'), join(root, 'new'))
    expect((await home.sync(TO)).exitCode).toBe(8)
    const accepted = await home.sync([...TO, '--accept-removals'])
    expect(accepted).toMatchObject({ exitCode: 0, mirror: { files: { removed: 2 }, uploads: { created: 40 } } })
  })

  test('a single file that is renamed or edited is no question [P12]', async () => {
    const { service, home, root } = await mirroredHome(1)
    renameSync(join(root, 'd0/e0/file-0.md'), join(root, 'renamed.md'))
    expect((await home.sync(TO)).exitCode).toBe(0)
    writeFileSync(join(root, 'renamed.md'), 'edited')
    expect((await home.sync(TO)).exitCode).toBe(0)
    expect(service.count('uploadFile')).toBe(1)
  })
})

describe('newly ignored files', () => {
  test('newly ignored files are not lost, even all of them', async () => {
    const { service, home, root } = await mirroredHome(30)
    writeFileSync(join(root, '.shelfdignore'), '*\n')
    const { exitCode, mirror } = await home.sync(TO)
    expect({ exitCode, problems: mirror.problems }).toEqual({ exitCode: 0, problems: [] })
    expect(mirror.files).toMatchObject({ removed: 30, leftOut: 30 })
    const [report] = (await home.json(['report'])).mirrors
    expect(report.counts).toEqual({ superseded: 30 })
    expect(report.entries[0].reason).toBe('left out: its file is not mirrored any more; still searchable')
    rmSync(join(root, '.shelfdignore'))
    expect((await home.sync(TO)).mirror.files).toMatchObject({ new: 30, removed: 0 })
    expect(service.count('uploadFile')).toBe(0)
  })

  test('the summary counts newly ignored and lost files apart', async () => {
    const { home, root } = await mirroredHome(70)
    writeFileSync(join(root, '.shelfdignore'), '/d0/\n')
    rmSync(join(root, 'd1'), { recursive: true })
    const { exitCode, stdout } = await home.shelfd(['sync', ...TO])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/gone +10 files; what was sent stays in the library/)
    expect(stdout).toMatch(/left out +2; 10 files were mirrored before and stay in the library/)
  })

  test('newly ignored files hide no loss beside them [P12]', async () => {
    const { home, root } = await mirroredHome(70)
    writeFileSync(join(root, '.shelfdignore'), '/d0/\n/d1/\n')
    for (let index = 2; index < 6; index += 1) rmSync(join(root, `d${index}`), { recursive: true })
    expectExit(await home.sync(TO), 8, /40 of 50 files are gone/)
  })
})

describe('a new store beside a full library (P14)', () => {
  test('a new store beside a full library asks before sending [P14]', async () => {
    const { service, home } = await mirroredHome(10)
    rmSync(home.stateDir, { recursive: true })
    mkdirSync(home.stateDir, { recursive: true })
    const { exitCode, stderr } = await home.shelfd(['sync', ...TO])
    expect(service.count('uploadFile')).toBe(0)
    expect({ exitCode, stderr }).toEqual({ exitCode: 8, stderr: expect.stringMatching(/Papers.*--adopt/) })
  })

  test.each([
    ['/Papers', 'a directory of its own'],
    ['/', 'the whole library'],
  ])('a new store asks also if all files lie in the inbox (%s: %s) [P14]', async (remotePath) => {
    const { service, home } = await homeOnService()
    const path = home.write('Papers', { 'a.md': 'A', 'b.md': 'B' })
    const mirrors = [{ name: 'papers', path, library: 'Research', remotePath }]
    configure(home, { mirrors, contract: { uploadDirectoryField: 'none' } })
    expect((await home.sync([])).exitCode).toBe(0)
    expect(readLibrary(service.dataDir).flatMap(({ places }) => places)).toEqual(['/.inbox/a.md', '/.inbox/b.md'])
    service.forget()
    rmSync(home.stateDir, { recursive: true })
    expect((await home.sync([])).exitCode).toBe(8)
    expect(service.count('uploadFile')).toBe(0)
    expect((await home.sync(['papers', '--adopt'])).exitCode).toBe(0)
  })

  test("a new store adopts the library's resources and sends none again [P14]", async () => {
    const { service, home } = await mirroredHome(10)
    rmSync(home.stateDir, { recursive: true })
    const { exitCode, mirror } = await home.sync([...TO, '--adopt'])
    expect({ exitCode, uploads: mirror.uploads }).toMatchObject({ exitCode: 0, uploads: { created: 0, bytes: 0 } })
    expect(mirror.uploads.duplicates).toBeGreaterThan(0)
    expect(service.count('uploadFile')).toBe(0)
    service.forget()
    expect((await home.sync(TO)).exitCode).toBe(0)
    expect(service.count('uploadFile')).toBe(0)
  })
})
