import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, temporaryHome } from '../support/home.ts'

const PAPERS = {
  'reports/2026/a.md': 'A heron waits.',
  'reports/b.txt': 'b',
  'notes/c.md': 'c',
  'notes/.env': 'TOKEN=1',
}

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

describe('files of git', () => {
  const SITE = {
    '.gitignore': '*.log\n/build/\n!.env\n',
    '.env': 'TOKEN=1',
    'a.md': 'a',
    'run.log': 'l',
    'build/out.html': 'o',
    'docs/.gitignore': 'draft*\n!keep.log',
    'docs/draft.md': 'd',
    'docs/keep.log': 'k',
  }

  test('are used where the mirror says so, bring no secret back, and are outweighed by a .shelfdignore', async () => {
    const home = temporaryHome()
    const path = home.write('Site', { ...SITE, '.shelfdignore': '!/run.log\n' })
    configure(home, { mirrors: [{ name: 'site', path, gitignore: true }] })
    const { stdout, stderr } = await home.shelfd(['sync'])
    expect(stderr).not.toContain('has a .gitignore')
    expect(stdout).toMatch(/left out +\d+ \(1 looks like a secret\)/)
    const { mirrors } = await home.json(['report', '--only', 'in-sync'])
    const sent = mirrors[0].entries.map((entry: { path: string }) => entry.path)
    expect(sent).toEqual(['.gitignore', 'a.md', 'run.log', 'docs/.gitignore', 'docs/keep.log'])
    expect((await home.shelfd(['why', 'Site/docs/draft.md'])).stdout).toContain('"draft*" (docs/.gitignore, line 1)')
  })

  test('are named where they are not used, by the run that sends and by the doctor', async () => {
    const home = temporaryHome()
    const path = home.write('Site', SITE)
    configure(home, { mirrors: [{ name: 'site', path }] })
    const said = `has a .gitignore, which is not used`
    const first = await home.shelfd(['sync'])
    expect(first.stdout).toMatch(/sent +7 files/)
    expect(first.stderr).toContain(said)
    expect((await home.shelfd(['sync'])).stderr).not.toContain(said)
    expect((await home.shelfd(['doctor'])).stdout).toContain(said)
  })
})
