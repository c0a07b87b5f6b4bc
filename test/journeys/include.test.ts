/** Only some files of a mirror: in one run by --include, always by `include` in the configuration. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'

const PAPERS = {
  'reports/2026/a.md': 'A heron waits.',
  'reports/b.txt': 'b',
  'notes/c.md': 'c',
  'notes/.env': 'TOKEN=1',
}

describe('a run over some files', () => {
  test('it says what it looked at, and the report names the rest', async () => {
    const home = homeWithPapers(PAPERS)
    const { exitCode, stdout } = await home.shelfd(['sync', 'Papers', '--include', 'reports/**'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('  only        reports/**; no other file was looked at\n')
    expect(stdout).toContain('sent        2 files')
    expect(stdout).not.toContain('left out')
    const partial =
      /^ {2}✓ all known files are sent · \d+ files? searchable · the last run looked only at reports\/\*\*$/m
    expect((await home.shelfd(['status'])).stdout).toMatch(partial)
    const checked = await home.shelfd(['report', 'Papers', '--check', '--format', 'combined'])
    expect(checked.exitCode).toBe(1)
    expect(checked.stdout).toContain('+ notes/c.md')
    expect((await home.sync(['Papers'])).mirror.uploads.created).toBe(1)
    expect((await home.shelfd(['status'])).stdout).not.toContain('looked only')
    expect((await home.shelfd(['report', 'Papers', '--check'])).exitCode).toBe(0)
  })

  test('a pattern that matches nothing is named, and the others are sent', async () => {
    const home = homeWithPapers(PAPERS)
    const ended = await home.shelfd(['sync', 'Papers', '--include', 'reprots/**', '--include', 'notes/', '--json'])
    expectExit(ended, 2, `No file that is mirrored in "${join(home.path, 'Papers')}" matches --include 'reprots/**':`)
    expect(JSON.parse(ended.stdout)).toMatchObject({ include: ['reprots/**', 'notes/'], unmatched: ['reprots/**'] })
    expect((await home.json(['status'])).mirrors[0].files.known).toBe(1)
    expectExit(await home.shelfd(['sync', 'Papers', '--include', '.env']), 2, 'matches --include .env')
  })

  test.each([
    [['--include', '!*.md'], 'Cannot use --include "!*.md": it must be a pattern without "!"'],
    [['--include', 'reports\\2026\\*'], 'it must be a pattern with "/" between directories, on every system'],
    [['--include', './reports/'], 'without "./" or "../"'],
    [['--include', '*.md', '--accept-removals'], 'Cannot use --accept-removals with --include'],
  ])('%j is refused', async (flags, message) => {
    expectExit(await homeWithPapers(PAPERS).shelfd(['sync', 'Papers', ...flags]), 2, message)
  })

  test('a dry run counts only these files', async () => {
    const home = homeWithPapers(PAPERS)
    const { mirror } = await home.sync(['Papers', '-n', '--include', '*.md'])
    expect(mirror).toMatchObject({ files: { scanned: 2 }, uploads: { created: 2 }, directories: { created: 4 } })
  })

  test('a daemon that sends in batches does it', async () => {
    const home = homeWithPapers(PAPERS)
    const path = join(home.path, 'Papers')
    configure(home, { mirrors: [{ name: 'papers', path, library: 'Papers', schedule: '0 2 1 1 *' }] })
    const daemon = await startDaemon(home)
    await daemon.until('waits for its batch', ({ mirrors }) => mirrors[0]?.reason?.code === 'scheduled')
    home.write('Papers', { 'notes/d.md': 'd', 'reports/e.md': 'e' })
    const { exitCode, summary, mirror } = await home.sync(['papers', '--include', 'notes/*.md'])
    expect({ exitCode, unmatched: summary.unmatched }).toEqual({ exitCode: 0, unmatched: [] })
    expect(mirror).toMatchObject({ files: { scanned: 2 }, uploads: { created: 1, heldBack: 0 } })
    const { files } = (await home.json(['status'])).mirrors[0]
    expect(files.searchable).toBe(files.known - files.toSend)
    expect((await home.sync(['papers'])).mirror.uploads.created).toBe(1)
  })
})

describe('a mirror of some files', () => {
  function homeThatIncludes(include: readonly string[]) {
    const home = temporaryHome()
    const path = home.write('Papers', PAPERS)
    configure(home, { mirrors: [{ name: 'papers', path, library: 'Papers', settle: '100ms', include }] })
    return home
  }

  test('every command sees the same files', async () => {
    const home = homeThatIncludes(['*.md', '.env'])
    const { exitCode, mirror } = await home.sync([])
    expect({ exitCode, files: mirror.files }).toMatchObject({
      exitCode: 0,
      files: { scanned: 2, ignored: 2, secrets: 1 },
    })
    expect((await home.shelfd(['why', 'Papers/reports/b.txt'])).stdout).toContain(
      'left out: no pattern of include matches reports/b.txt (*.md, .env)',
    )
    expect((await home.shelfd(['why', 'Papers/notes/.env'])).stdout).toContain('ignored by the rule ".env" (built-in)')
    const { mirrors } = await home.json(['report', '--only', 'ignored'])
    expect(mirrors[0].entries).toMatchObject([
      { path: 'notes/.env', reason: '.env (built-in)' },
      { path: 'reports/b.txt', reason: 'not in include: *.md, .env' },
    ])
    expect((await home.shelfd(['report', '--check'])).exitCode).toBe(0)
    expect((await home.shelfd(['status'])).stdout).toContain('up to date')
  })

  test('directories without any of them are not created, and why says so', async () => {
    const home = homeThatIncludes(['*.txt'])
    expect((await home.sync([])).mirror.directories.created).toBe(2)
    expect((await home.shelfd(['ls', 'Papers:/Papers'])).stdout).not.toContain('notes')
    expect((await home.shelfd(['why', 'Papers/notes'])).stdout).toContain('not created, as it holds no file that is')
    expect((await home.shelfd(['status'])).stdout).not.toContain('to create')
  })

  test('a daemon sends what comes to them, and nothing else', async () => {
    const home = homeThatIncludes(['/reports/'])
    const daemon = await startDaemon(home)
    await daemon.until('idle', isIdle)
    home.write('Papers', { 'notes/d.md': 'd', 'reports/new/e.md': 'e' })
    const known = async () => (await home.json(['status'])).mirrors[0].files.known
    await expect.poll(known, { timeout: 30_000 }).toBe(3)
    await daemon.until('idle', isIdle)
    expect(await known()).toBe(3)
  })

  test('a pattern that can choose nothing is an error of its line', async () => {
    const home = homeThatIncludes(['a\\b'])
    expectExit(await home.shelfd(['sync']), 2, 'must be a pattern with "/" between directories')
  })
})
