import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { dumpStore } from '../support/dump-store.ts'
import { type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const tree = { 'a.md': '# A', 'sub/b.md': '# B', 'sub/deep/c.txt': 'C', 'sub/copy-of-a.md': '# A', 'empty/': '' }

/** Changes a home to what an older version left, which could not read the format of its only document. */
function makeUnread(home: Home): void {
  const note = 'Documents in this format cannot be read: only its title is searchable'
  const older = JSON.stringify({ version: '0.0.1', missing: [] })
  const library = new Database(join(home.dataDir, 'library.sqlite'))
  library.prepare("UPDATE resource SET status = 'partial', failure = ?").run(note)
  library.prepare("UPDATE setting SET value = ? WHERE name = 'readers'").run(older)
  library.close()
  using store = openStore(home.stateDir)
  store.write(() => {
    const [readers] = store.keyValues.list('readers:')
    store.keyValues.set(readers?.key ?? '', older)
    store.contents.setIngestion(1, { status: 'partial', outcome: 'partial', searchableAt: null, note, seenAt: 0 })
  })
}

describe('the first run', () => {
  test('the first command makes every file searchable without configuration', async () => {
    const home = homeWithPapers(tree)
    const { exitCode, mirror, stderr } = await home.sync(['Papers'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(mirror.files).toMatchObject({ scanned: 4, new: 4, hashed: 4, unchanged: 0 })
    expect(mirror.uploads).toMatchObject({ created: 3, duplicates: 0, aliases: 1, failed: 0, inDoubt: 0, bytes: 7 })
    expect(mirror.directories).toEqual({ created: 4, existing: 0, failed: 0 })
    expect(mirror.ingestion).toMatchObject({ searchable: 3, pending: 0 })
    expect(mirror.problems).toEqual([])
    const places = readLibrary(home.dataDir).flatMap((resource) => resource.places)
    expect(places.sort()).toEqual(['/Papers/a.md', '/Papers/sub/b.md', '/Papers/sub/deep/c.txt'])
    const found = await home.shelfd(['search', 'B', '--json'])
    expect(found.stdout).toContain('b.md')
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('a dry run reports what the real run does', async () => {
    const home = homeWithPapers(tree)
    const dry = await home.sync(['Papers', '--dry-run'])
    expect(dry.exitCode).toBe(0)
    expect(dry.summary.dryRun).toBe(true)
    expect(readLibrary(home.dataDir)).toEqual([])
    expect(Object.values(dumpStore(home.stateDir)).flat()).toEqual([])
    const real = await home.sync(['Papers'])
    expect(dry.mirror.files).toEqual(real.mirror.files)
    expect(dry.mirror.uploads).toEqual(real.mirror.uploads)
    expect(dry.mirror.directories).toEqual(real.mirror.directories)
  })

  test('--min-age sends nothing of a file that an earlier run held back and that is being written now', async () => {
    const home = homeWithPapers({ 'a.md': 'one', 'b.md': 'two' })
    expect((await home.sync(['Papers', '--max-new', '1'])).mirror.uploads).toMatchObject({ created: 1, heldBack: 1 })
    home.write('Papers', { 'a.md': 'one and half of', 'b.md': 'two and half of' })
    const { mirror } = await home.sync(['Papers', '--min-age', '1h'])
    expect(mirror.uploads.created).toBe(0)
    expect(mirror.files).toMatchObject({ tooNew: 2 })
    expect(readLibrary(home.dataDir)).toHaveLength(1)
  })

  test('after an upgrade, documents that can be read now are read, and the run says so', async () => {
    const home = homeWithPapers({ 'a.md': 'pelican' })
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    makeUnread(home)
    const dry = await home.sync(['Papers', '--dry-run'])
    expect(dry.mirror.ingestion).toMatchObject({ searchable: 0 })
    const { exitCode, mirror } = await home.sync(['Papers'])
    expect(exitCode).toBe(0)
    expect(mirror.files).toMatchObject({ unchanged: 1 })
    expect(mirror.uploads).toMatchObject({ created: 0, duplicates: 0 })
    expect(mirror.ingestion).toMatchObject({ searchable: 1, partial: 0, pending: 0 })
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
    const again = await home.sync(['Papers'])
    expect(again.mirror.ingestion).toMatchObject({ searchable: 0, pending: 0 })
  })
})

describe('later runs', () => {
  test('a second run sends nothing and changes nothing [P17]', async () => {
    const { home, service } = await homeOnService()
    home.write('Papers', tree)
    expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(0)
    const before = dumpStore(home.stateDir)
    service.forget()
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research'])
    expect(exitCode).toBe(0)
    expect(mirror.files).toMatchObject({ scanned: 4, unchanged: 4, new: 0, changed: 0, moved: 0, removed: 0 })
    expect(mirror.uploads).toEqual({
      created: 0,
      duplicates: 0,
      aliases: 0,
      failed: 0,
      heldBack: 0,
      heldBackBy: [],
      inDoubt: 0,
      waiting: 0,
      bytes: 0,
    })
    expect(service.requests.length).toBeLessThanOrEqual(3)
    expect(service.requests.every(({ method }) => method === 'GET')).toBe(true)
    expect(dumpStore(home.stateDir)).toEqual(before)
  })

  test('a run distinguishes changed, moved, removed and new files', async () => {
    const { home } = await homeOnService()
    const root = home.write('Papers', { 'a.md': 'A', 'b.md': 'B', 'c.md': 'C', 'd/e.md': 'E', 'd/f.md': 'F' })
    await home.sync(['Papers', '--to', 'Research'])
    writeFileSync(join(root, 'a.md'), 'A changed')
    renameSync(join(root, 'b.md'), join(root, 'renamed.md'))
    rmSync(join(root, 'c.md'))
    renameSync(join(root, 'd'), join(root, 'moved'))
    writeFileSync(join(root, 'new.md'), 'new')
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research'])
    expect(exitCode).toBe(0)
    expect(mirror.files).toMatchObject({ scanned: 5, unchanged: 0, new: 1, changed: 1, moved: 3, removed: 1 })
    expect(mirror.uploads).toMatchObject({ created: 2, duplicates: 0, failed: 0, bytes: 12 })
    const { stdout } = await home.shelfd(['report', '--format', 'combined'])
    const lines = ['= a.md', '= moved/e.md', '= moved/f.md', '= new.md', '= renamed.md', '^ a.md', '^ c.md']
    expect(stdout.trim().split('\n').sort()).toEqual(lines)
    expect((await home.shelfd(['report'])).stdout).toMatch(
      /2 superseded \(still in the library\)\n +1 of them replaced by a newer version\n +1 of them gone\n/,
    )
    const only = async (word: string) => (await home.shelfd(['report', '--format', 'combined', '--only', word])).stdout
    expect([await only('gone'), await only('left-out'), await only('without-text')]).toEqual(['^ c.md\n', '', ''])
    // Old versions do not fail the check, since nobody can resolve them.
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
    expect(await home.shelfd(['report', '--check', '--fail-on', 'superseded'])).toMatchObject({ exitCode: 1 })
  })

  test('a file without content is empty, and not searchable', async () => {
    const home = homeWithPapers({ 'a.md': 'tides', 'empty.txt': '' })
    const { stdout } = await home.shelfd(['sync', 'Papers'])
    expect(stdout).toMatch(/searchable +1 file, at once\n +! 1 stored, but its text can't be searched \(1 empty\)/)
    expect((await home.shelfd(['status'])).stdout).toMatch(/up to date.* · 1 file searchable/)
    const why = await home.shelfd(['why', 'Papers/empty.txt'])
    expect(why.stdout).toMatch(/note +empty, so that there is nothing to search/)
    expect(why.stdout).not.toContain('searchable')
    const { stdout: listed } = await home.shelfd(['report', '--only', 'without-text'])
    expect(listed).toMatch(/= empty\.txt: empty, so that there is nothing to search\n/)
  })

  test('a file that comes back sends nothing [P13]', async () => {
    const { home, service } = await homeOnService()
    const root = home.write('Papers', { 'a.md': 'A', 'b/c.md': 'C' })
    await home.sync(['Papers', '--to', 'Research'])
    for (let cycle = 0; cycle < 2; cycle += 1) {
      rmSync(join(root, 'a.md'))
      rmSync(join(root, 'b'), { recursive: true })
      expect((await home.sync(['Papers', '--to', 'Research'])).mirror.files).toMatchObject({ removed: 2 })
      writeTree(root, { 'a.md': 'A', 'b/c.md': 'C' })
      const back = await home.sync(['Papers', '--to', 'Research'])
      expect(back.mirror.uploads).toMatchObject({ created: 0, duplicates: 0, bytes: 0 })
      expect(back.exitCode).toBe(0)
    }
    expect(readLibrary(service.dataDir)).toHaveLength(2)
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('an old content that returns is not superseded [P13]', async () => {
    const { home } = await homeOnService()
    const root = home.write('Papers', { 'a.md': 'first' })
    await home.sync(['Papers', '--to', 'Research'])
    writeFileSync(join(root, 'a.md'), 'second')
    await home.sync(['Papers', '--to', 'Research'])
    writeFileSync(join(root, 'a.md'), 'first')
    expect((await home.sync(['Papers', '--to', 'Research'])).mirror.uploads).toMatchObject({
      created: 0,
      duplicates: 0,
    })
    const { stdout } = await home.shelfd(['report', '--format', 'combined'])
    expect(stdout.trim().split('\n').sort()).toEqual(['= a.md', '^ a.md'])
  })

  test('a run with --checksum hashes every file again', async () => {
    const { home } = await homeOnService()
    home.write('Papers', { 'a.md': 'A', 'b.md': 'B' })
    await home.sync(['Papers', '--to', 'Research'])
    const { mirror } = await home.sync(['Papers', '--to', 'Research', '--checksum'])
    expect(mirror.files).toMatchObject({ hashed: 2, unchanged: 2, changed: 0 })
  })
})

describe('ad hoc mirrors', () => {
  test('ad hoc mirrors of the same base name stay apart', async () => {
    const home = temporaryHome()
    home.write('one/notes', { 'a.md': 'A' })
    home.write('two/notes', { 'b.md': 'B' })
    const first = await home.sync(['one/notes'])
    const second = await home.sync(['two/notes'])
    expect([first.exitCode, second.exitCode]).toEqual([0, 0])
    expect(second.mirror.name).not.toBe(first.mirror.name)
    expect(second.mirror.library.id).not.toBe(first.mirror.library.id)
    const again = await home.sync(['one/notes'])
    expect(again.mirror.name).toBe(first.mirror.name)
    const all = await home.sync([])
    expect(all.summary.mirrors.map(({ uploads }) => uploads.created)).toEqual([0, 0])
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('the same bytes in two types are two contents', async () => {
    const { home } = await homeOnService()
    home.write('Papers', { 'a.md': 'same', 'a.txt': 'same', 'b.txt': 'same' })
    const { mirror } = await home.sync(['Papers', '--to', 'Research'])
    expect(mirror.uploads).toMatchObject({ created: 2, aliases: 1 })
  })

  test('ad hoc mirrors of one library share their contents', async () => {
    const { home } = await homeOnService()
    const outside = writeTree(temporaryDirectory(), { 'a.md': 'A', 'b.md': 'B' })
    home.write('two', { 'a.md': 'A', 'c.md': 'C' })
    await home.sync([outside, '--to', 'Research'])
    const { mirror } = await home.sync(['two', '--to', 'Research'])
    expect(mirror.uploads).toMatchObject({ created: 1, aliases: 1 })
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('an empty directory is mirrored too', async () => {
    const { home } = await homeOnService()
    mkdirSync(join(home.path, 'Nothing'))
    const { exitCode, mirror } = await home.sync(['Nothing', '--to', 'Research'])
    expect(exitCode).toBe(0)
    expect(mirror.files.scanned).toBe(0)
    expect(mirror.directories.created).toBe(1)
    expect(await home.shelfd(['ls', 'Research:/Nothing'])).toMatchObject({ exitCode: 0 })
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })
})
