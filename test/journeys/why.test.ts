/** `why` explains paths that other commands only count. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const TO = ['Papers', '--to', 'Research']

/** Each stored outcome of an upload, and the words that `why` prints for it. */
const OUTCOMES = [
  ['created', 'sent'],
  ['duplicate', 'was in the library already'],
  ['adopted', 'found in the library'],
  ['absent', 'looked for and not found'],
  ['doubt', 'not known whether it arrived'],
  ['not-sent', 'not sent'],
  [null, 'cut off'],
]

async function explain(home: Home, path: string, ...flags: string[]) {
  const { exitCode, stdout } = await home.shelfd(['why', `Papers/${path}`, '--json', ...flags])
  expect(exitCode).toBe(0)
  return JSON.parse(stdout)
}

async function mirroredHome() {
  const { service, home, root } = await homeOnService({
    'a.md': 'one',
    'notes/b.md': 'two',
    'notes/deep/c.md': 'three',
    'notes-2/d.md': 'four',
  })
  return { service, home, root }
}

describe('why of a directory', () => {
  test('why counts the known files below a directory', async () => {
    const { service, home, root } = await mirroredHome()
    service.answer = ({ fileName }) =>
      fileName === 'c.md' ? { status: 422, body: { message: 'no such kind' } } : undefined
    await home.sync(TO)
    writeFileSync(join(root, 'notes/deep/bad.md'), '')
    const { directory, content } = await explain(home, 'notes')
    expect(content).toBeNull()
    expect(directory).toMatchObject({
      remotePath: '/Papers/notes',
      createdAt: expect.stringMatching(ISO),
      directories: 1,
      files: { known: 2, searchable: 1, needAttention: 1 },
    })
    const { stdout } = await home.shelfd(['why', 'Papers/notes'])
    expect(stdout).toMatch(/files +2 known: 1 searchable, 1 needs attention/)
    expect(stdout).toMatch(/in the library +\/Papers\/notes, since \d\d:\d\d/)
    expect((await explain(home, '')).directory).toMatchObject({ directories: 3, files: { known: 4 } })
  })

  test('why shows whether a directory is unscanned, ignored or gone', async () => {
    const { home, root } = await mirroredHome()
    await home.sync(TO)
    home.write('Papers', { 'later/e.md': 'five', 'node_modules/x/f.js': 'six' })
    expect((await home.shelfd(['why', 'Papers/later'])).stdout).toMatch(/in the state +no: not scanned yet\n/)
    const left = await home.shelfd(['why', 'Papers/node_modules'])
    expect(left.stdout, 'the line above has the reason').toMatch(/on disk +ignored by .*\nin the state +no\n/)
    expect((await home.shelfd(['why', 'Papers/none'])).stdout).toMatch(/on disk +not there\nin the state +no\n/)
    const ignored = await explain(home, 'node_modules/x')
    const rule = { pattern: 'node_modules/', source: 'built-in', line: null, matches: 'node_modules' }
    expect(ignored).toMatchObject({ directory: null, disk: { kind: 'ignored', rule } })
    rmSync(join(root, 'notes'), { recursive: true })
    expect(await explain(home, 'notes')).toMatchObject({ disk: { kind: 'absent' }, directory: { files: { known: 2 } } })
  })
})

describe('why of a file', () => {
  test('why takes the paths that shelfd prints, those on the disk first', async () => {
    const { home } = await mirroredHome()
    home.write('Papers', { '.env': 'secret' })
    await home.sync(TO)
    const pathOf = async (word: string) => (await home.json(['why', word, '--offline'])).path
    expect(await pathOf('a.md')).toBe('a.md')
    expect(await pathOf('c.md')).toBe('notes/deep/c.md')
    expect(await pathOf('Research:/Papers/notes')).toBe('notes')
    expect(await pathOf('.env'), 'left out, so known to the disk alone').toBe('.env')
    home.write('notes', { 'b.md': 'in no mirror' })
    expect(await pathOf('notes/b.md')).toBe('notes/b.md')
    expect(await pathOf('Papers/none.md')).toBe('none.md')
    home.write('far', { 'Papers/later/e.md': 'of another mirror' })
    await home.sync(['far', '--to', 'Research:/far'])
    expect(await pathOf('Papers/later/e.md')).toBe('Papers/later/e.md')
    home.write('Papers', { 'later/e.md': 'not scanned yet' })
    expect(await pathOf('Papers/later/e.md')).toBe('later/e.md')
  })

  test('why of a mirror that was never synced says so', async () => {
    const home = temporaryHome()
    const path = home.write('Papers', { 'own.md': 'x' })
    home.write('Notes', { 'a.md': 'y' })
    configure(home, { mirrors: [{ name: 'papers', path }] })
    const never = /mirror "papers" is configured, but was never synced; run "shelfd sync papers"/
    expectExit(await home.shelfd(['why', 'Papers/own.md']), 2, never)
    expectExit(await home.shelfd(['get', 'papers']), 2, never)
    expect((await home.sync(['Notes'])).exitCode).toBe(0)
    expectExit(await home.shelfd(['why', 'Papers/own.md']), 2, never)
    expectExit(await home.shelfd(['failed', 'show', 'Papers/own.md']), 2, never)
  })

  test('why names the new path of a renamed file', async () => {
    const { home, root } = await mirroredHome()
    await home.sync(TO)
    renameSync(join(root, 'a.md'), join(root, 'notes/moved.md'))
    await home.sync(TO)
    expect(await explain(home, 'a.md')).toMatchObject({ movedTo: ['notes/moved.md'], disk: { kind: 'absent' } })
    expect((await home.shelfd(['why', 'Papers/a.md'])).stdout).toMatch(/moved to +notes\/moved\.md/)
    expect((await explain(home, 'notes/moved.md')).movedTo).toEqual([])
  })

  test('why describes in words how each upload ended', async () => {
    const { service, home } = await mirroredHome()
    service.answer = ({ fileName }) => (fileName ? { status: 422, body: { message: 'no' } } : undefined)
    await home.sync(TO)
    expect((await home.shelfd(['why', 'Papers/a.md'])).stdout).toMatch(/upload 1 +\S+ refused, from a\.md: .*no/)
    service.answer = () => undefined
    await home.shelfd(['failed', 'retry', '--all'])
    await home.sync(TO)
    expect((await home.shelfd(['why', 'Papers/a.md'])).stdout).toMatch(/upload 2 +\S+ sent, from a\.md/)
    const database = new Database(join(home.stateDir, 'store.db'))
    onTestFinished(() => {
      database.close()
    })
    for (const [outcome, words] of OUTCOMES) {
      database.prepare('UPDATE upload SET outcome = ?').run(outcome)
      expect((await home.shelfd(['why', 'Papers/a.md', '--offline'])).stdout).toContain(` ${words}, from a.md`)
    }
  })

  test('why names the earlier version of a changed file', async () => {
    const { home, root } = await mirroredHome()
    await home.sync(TO)
    const { content } = await explain(home, 'a.md')
    writeFileSync(join(root, 'a.md'), 'changed')
    await home.sync(TO)
    const found = await explain(home, 'a.md')
    const { sha256, resourceId } = content
    expect(found.earlierVersions).toEqual([
      { sha256, resourceId, reason: 'changed', endedAt: expect.stringMatching(ISO), isSearchable: true },
    ])
    const { stdout } = await home.shelfd(['why', 'Papers/a.md', '--offline'])
    expect(stdout).toMatch(/earlier version +\S+, until \S+: replaced by a newer version of its file; still searchable/)
    expect(stdout).not.toMatch(/former/)
  })

  test('why says that a file changed since the last scan, or has not settled', async () => {
    const { home, root } = await mirroredHome()
    const mirror = { name: 'Papers', path: root, library: 'Research' }
    configure(home, { mirrors: [{ ...mirror, settle: '0s' }] })
    await home.sync([])
    expect((await explain(home, 'a.md')).disk).toMatchObject({ isChanged: false, isSettled: true })
    home.write('Papers', { 'a.md': 'changed', 'new.md': 'new' })
    expect((await explain(home, 'a.md')).disk).toMatchObject({ isChanged: true, isSettled: true })
    expect((await explain(home, 'new.md')).disk).toMatchObject({ isChanged: false, isSettled: true })
    configure(home, { mirrors: [{ ...mirror, settle: '1h' }] })
    const onDisk = async (name: string) => (await home.shelfd(['why', `Papers/${name}`])).stdout.split('\n')[2]
    const settling = (again: string) =>
      `; waits: changed ${again}\\d+ s ago, and a daemon sends it once it is unchanged for another (59m|1h)`
    expect(await onDisk('a.md')).toMatch(
      new RegExp(`a file of 7 B, changed or touched since the last scan: .*${settling('again ')}`),
    )
    expect(await onDisk('new.md')).toMatch(new RegExp(`a file of 3 B${settling('')}`))
  })

  test("why gives the service's own reason for a failure", async () => {
    const { service, home } = await mirroredHome()
    service.rewrite = ({ route, path }, body) => {
      if (route !== 'showResource' || body.title !== 'a.md') return body
      return { ...body, ingestion_status: 'failed', ingestion_error: `encrypted\u001b[31m ${path.length > 0}` }
    }
    const { mirror } = await home.sync(TO)
    expect(mirror.problems).toMatchObject([
      { path: 'a.md', message: 'ingestion ended failed: encrypted\\x1b[31m true' },
    ])
    const { content } = await explain(home, 'a.md')
    const seen = { seenAt: expect.stringMatching(ISO), note: 'encrypted\\x1b[31m true' }
    expect(content).toMatchObject({
      ingestion: { status: 'failed', outcome: 'failed', ...seen },
      problem: { code: 'ingestion-failed', count: 1, retryAt: expect.stringMatching(ISO) },
    })
    const { stdout } = await home.shelfd(['why', 'Papers/a.md'])
    expect(stdout).toMatch(/problem +ingestion ended failed: encrypted.* \[ingestion-failed\]/)
    expect((await home.shelfd(['report'])).stdout).toMatch(/! a\.md.*encrypted/)
  })

  test('why shows the last ingestion state and its time', async () => {
    const { service, home } = await mirroredHome()
    service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'running' } : body)
    expect((await home.sync([...TO, '--wait-timeout', '500ms'])).exitCode).toBe(4)
    const { content } = await explain(home, 'a.md', '--offline')
    const seen = { status: 'running', outcome: 'pending', note: null, seenAt: expect.stringMatching(ISO) }
    expect(content.ingestion).toEqual({ ...seen, isTextSearchable: null })
    const { stdout } = await home.shelfd(['why', 'Papers/a.md', '--offline'])
    expect(stdout).toMatch(/ingestion +running \(pending\), seen \d\d:\d\d/)
  })

  test('why --json prints its own shape, no database row', async () => {
    const { home } = await mirroredHome()
    await home.sync(TO)
    const found = await explain(home, 'a.md')
    expect(found).toEqual({
      fleet: null,
      mirror: 'Papers',
      path: 'a.md',
      library: { id: expect.any(String), name: 'Research' },
      root: expect.stringMatching(/Papers$/),
      disk: { kind: 'file', size: 3, isChanged: false, isSettled: expect.any(Boolean), reason: null, rule: null },
      content: {
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        mime: 'text/markdown',
        size: 3,
        state: 'stored',
        wasThereAlready: false,
        mayHaveSecondLocation: false,
        resourceId: expect.any(String),
        sentBy: null,
        uploadedAt: expect.stringMatching(ISO),
        searchableAt: expect.stringMatching(ISO),
        ingestion: {
          status: 'completed',
          outcome: 'searchable',
          note: null,
          isTextSearchable: true,
          seenAt: expect.stringMatching(ISO),
        },
        problem: null,
        isSetAside: false,
      },
      duplicateOf: null,
      movedTo: [],
      heldBack: null,
      remotePaths: ['/Papers/a.md'],
      remoteError: null,
      uploads: [
        {
          attempt: 1,
          path: 'a.md',
          startedAt: expect.stringMatching(ISO),
          endedAt: expect.stringMatching(ISO),
          outcome: 'created',
          message: null,
        },
      ],
      problem: null,
      earlierVersions: [],
      directory: null,
    })
  })
})
