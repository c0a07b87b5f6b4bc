import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { homeWithPapers } from '../support/home.ts'
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

/** An error is one message, and at most one line that names the next step. */
function expectOneMessage(stderr: string, text: RegExp): void {
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => !LOG_LINE.test(line))
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

  test('a sync exits 4 when ingestion outlasts the deadline', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'A' })
    service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'running' } : body)
    const args = ['sync', 'Papers', '--to', 'Research', '--wait-timeout', '50ms', '--json']
    const { exitCode, stdout } = await home.run(args)
    expect(exitCode).toBe(4)
    expect(JSON.parse(stdout).mirrors[0].ingestion.pending).toBe(1)
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
