import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { freePort } from '../support/free-port.ts'
import { homeWithPapers, temporaryHome, variablesOf } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

/**
 * Every file below a directory with its size and times. Its bytes stay unread: closing a file gives up all locks that this
 * process has on it.
 */
function snapshot(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = names.map(({ parentPath, name }) => join(parentPath, name)).sort()
  return Object.fromEntries(paths.map((path) => [path, describeFile(path)]))
}

function describeFile(path: string): string {
  const { size, mtimeNs, ino } = statSync(path, { bigint: true })
  return `${size} ${mtimeNs} ${ino}`
}

const LOG_LINE = /^\d\d:\d\d:\d\d (?:info|warn) /

/** What a command that waits says before it gives up. */
const WAITING = /\. Trying (?:until|a few times)/

/** An error is one message, and at most one line that names the next step. */
function expectOneMessage(stderr: string, text: RegExp): void {
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => !LOG_LINE.test(line) && !WAITING.test(line))
  expect(stderr).toMatch(text)
  expect(lines.filter((line) => line.startsWith('shelfd: '))).toHaveLength(1)
  expect(lines.length).toBeLessThanOrEqual(2)
  expect(stderr).not.toMatch(/^\s+at /m)
}

describe('exit codes', () => {
  test('a sync exits 0 when all is in sync', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'b/c.md': 'C' })
    const { exitCode, stdout, stderr } = await home.run(['sync', 'Papers', '--report'])
    expect(exitCode).toBe(0)
    expect(stderr).not.toMatch(/shelfd: |warn|error/)
    expect(stdout).toMatch(/sent +2 files/)
    expect(stdout).toMatch(/= +2 in-sync/)
  })

  test('a sync exits 1 while a file needs attention', async () => {
    const home = temporaryHome()
    const root = home.write('Papers', { 'a.md': 'A' })
    writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from('.md')]), 'x')
    const { exitCode, stdout } = await home.run(['sync', 'Papers'])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/caf\\+xE9\.md: .*not UTF-8/)
  })

  test('a wrong command line exits 2', async () => {
    const { exitCode, stdout, stderr } = await temporaryHome().run(['sync', '--bogus'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expectOneMessage(stderr, /bogus/)
  })

  test('a broken configuration exits 2', async () => {
    const home = temporaryHome()
    home.write('config/shelfd', { 'config.yaml': 'mirrors:\n  - path: ~/Papers\n    libary: Research\n' })
    const { exitCode, stderr } = await home.run(['sync'])
    expect(exitCode).toBe(2)
    expectOneMessage(stderr, /config\.yaml.*3.*libary.*library/s)
  })

  test('a missing directory exits 3', async () => {
    const home = temporaryHome()
    const { exitCode, stderr } = await home.run(['sync', 'Nowhere'])
    expect(exitCode).toBe(3)
    expectOneMessage(stderr, /Nowhere.*does not exist/)
  })

  test('a sync exits 4 when ingestion outlasts the deadline', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'A' })
    service.rewrite = neverEnding
    const args = ['sync', 'Papers', '--to', 'Research', '--wait-timeout', '50ms', '--json']
    const { exitCode, stdout } = await home.run(args)
    expect(exitCode).toBe(4)
    expect(JSON.parse(stdout).mirrors[0].ingestion.pending).toBe(1)
  })

  test('an unreachable service exits 5', async () => {
    const home = temporaryHome()
    const url = `http://127.0.0.1:${await freePort()}`
    const { exitCode, stderr } = await home.run(['whoami'], { SHELFD_SERVICE_URL: url, SHELFD_TOKEN: 'token' })
    expect(exitCode).toBe(5)
    expectOneMessage(stderr, /cannot be reached/)
  })

  test('a wrong token exits 7', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'A' })
    const wrong = variablesOf({ url: service.url, token: `${service.token.slice(0, -1)}!` })
    const { exitCode, stderr } = await home.run(['sync', 'Papers', '--to', 'Research'], wrong)
    expect(exitCode).toBe(7)
    expectOneMessage(stderr, /401/)
    expect(service.count('uploadFile')).toBe(0)
  })

  test('a sync exits 8 when a limit holds something back', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B', 'c.md': 'C' })
    const { exitCode, stdout } = await home.run(['sync', 'Papers', '--max-new', '2'])
    expect(exitCode).toBe(8)
    expect(stdout).toMatch(/1 file held back by limits\.newPerRun \(2 in a run\)/)
  })

  test('a store held by another instance exits 11 [P16, F-PR-08]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    using store = openStore(home.stateDir)
    const before = snapshot(home.path)
    const { exitCode, stderr } = await home.run(['sync', 'Papers'])
    expect(exitCode).toBe(11)
    expectOneMessage(stderr, /The state in .* is held by process/)
    expect(snapshot(home.path)).toEqual(before)
    expect(store.mirrors.list()).toEqual([])
  })

  test('a store of a newer version exits 78 [P23]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    openStore(home.stateDir)[Symbol.dispose]()
    const database = new Database(join(home.stateDir, 'store.db'))
    database.pragma('user_version = 999')
    database.close()
    const before = readFileSync(join(home.stateDir, 'store.db'))
    const { exitCode, stderr } = await home.run(['sync', 'Papers'])
    expect(exitCode).toBe(78)
    expectOneMessage(stderr, /newer/)
    expect(readFileSync(join(home.stateDir, 'store.db')).equals(before)).toBe(true)
    expect(await home.shelfd(['report'])).toMatchObject({ exitCode: 78 })
  })

  test('a lost store whose generation file remains exits 78 [P24]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    openStore(home.stateDir)[Symbol.dispose]()
    rmSync(join(home.stateDir, 'store.db'))
    const { exitCode, stderr } = await home.run(['sync', 'Papers'])
    expect(exitCode).toBe(78)
    expectOneMessage(stderr, /restore|move it away/)
  })

  test('an interrupted sync exits 130, and the next run completes it [P18, F-PR-01]', async () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}.md`, `content ${index}`]))
    const { service, home } = await homeOnService(files)
    const { child, ended } = home.start(['sync', 'Papers', '--to', 'Research', '--json'])
    service.onUploadBegun = (nth) => {
      if (nth === 10) child.kill('SIGINT')
    }
    const { exitCode, stdout, stderr } = await ended
    expect(exitCode).toBe(130)
    expectOneMessage(stderr, /[Ii]nterrupted/)
    const { created, inDoubt } = JSON.parse(stdout).mirrors[0].uploads
    expect(created).toBeGreaterThanOrEqual(9)
    expect(created).toBeLessThan(60)
    expect(inDoubt).toBe(0)
    const next = await home.sync(['Papers'])
    expect(next.exitCode).toBe(0)
    expect(next.mirror.uploads.created).toBe(60 - created)
    expect(service.count('uploadFile')).toBe(60)
  })
})

function neverEnding({ route }: { route: string }, body: Record<string, unknown>): unknown {
  return route === 'showResource' ? { ...body, ingestion_status: 'running' } : body
}
