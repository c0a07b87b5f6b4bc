/** Directories that would be sent twice, and directories that nobody should mirror by accident. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createHome } from '../cli/run-with.ts'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'

const PATIENT = { timeout: 120_000 }

function nestedHome() {
  const home = temporaryHome()
  const outer = home.write('outer', { 'o.md': 'outer', 'notes/n.md': 'notes' })
  return { home, outer, inner: join(outer, 'notes') }
}

async function expectOverlap(home: Home, args: readonly string[], text: RegExp): Promise<void> {
  expectExit(await home.shelfd(['sync', ...args]), 2, text, String(args))
  expect(existsSync(home.dataDir), 'the library was not even started').toBe(false)
}

describe('two configured mirrors', () => {
  test('two mirrors of one directory are an error with its line', async () => {
    const { home, outer } = nestedHome()
    home.write('config/shelfd', {
      'config.yaml': `mirrors:\n  - { name: one, path: "${outer}" }\n  - { name: two, path: "${outer}/", library: Second }\n`,
    })
    await expectOverlap(home, [], /config\.yaml:3: .*"one" and "two" .*twice/)
  })

  test('two mirrors of one directory by a link are refused', async () => {
    const { home, outer } = nestedHome()
    symlinkSync(outer, join(home.path, 'link'))
    configure(home, {
      mirrors: [
        { name: 'one', path: outer },
        { name: 'two', path: join(home.path, 'link'), library: 'Second' },
      ],
    })
    await expectOverlap(home, [], /"two".*"one".*twice; take one of the two out/)
  })

  test('nested mirrors are refused unless the outer ignores the inner', async () => {
    const { home, outer, inner } = nestedHome()
    const mirrors = [
      { name: 'outer', path: outer },
      { name: 'inner', path: inner },
    ]
    configure(home, { mirrors })
    await expectOverlap(home, [], /"inner".*lies in.*"outer".*"\/notes\/"/)
    await expectOverlap(home, ['inner'], /lies in/)
    configure(home, { mirrors: [{ ...mirrors[0], ignore: ['notes/'] }, mirrors[1]] })
    expect((await home.sync([])).exitCode).toBe(0)
    expect(readLibrary(home.dataDir)).toHaveLength(2)
  })

  test('a .shelfdignore may separate nested mirrors', async () => {
    const { home, outer, inner } = nestedHome()
    home.write('outer', { '.shelfdignore': '/notes\n' })
    configure(home, {
      mirrors: [
        { name: 'outer', path: outer },
        { name: 'inner', path: inner },
      ],
    })
    expect((await home.sync([])).exitCode).toBe(0)
    expect(readLibrary(home.dataDir)).toHaveLength(2)
  })

  test('nested mirrors stop a daemon from starting', PATIENT, async () => {
    const { home, outer, inner } = nestedHome()
    const mirrors = [
      { name: 'outer', path: outer, settle: '100ms' },
      { name: 'inner', path: inner, settle: '100ms' },
    ]
    configure(home, { mirrors })
    expectExit(await home.shelfd(['daemon']), 2, 'lies in')
    configure(home, { mirrors: mirrors.slice(0, 1) })
    const daemon = await startDaemon(home)
    await daemon.until('it is mirrored', isIdle)
    configure(home, { mirrors })
    daemon.child.kill('SIGHUP')
    const status = await daemon.until('it is refused', () => daemon.log().includes('cannot use the new configuration'))
    expect(status.mirrors.map(({ name }) => name)).toEqual(['outer'])
    expect(daemon.log()).toContain('lies in')
    expect((await daemon.stop()).exitCode).toBe(0)
  })
})

describe('ad hoc directories', () => {
  test('an ad hoc directory that overlaps a mirror is refused', async () => {
    const { home, outer, inner } = nestedHome()
    expect((await home.sync([outer])).exitCode).toBe(0)
    const before = readLibrary(home.dataDir).length
    for (const args of [[inner], [home.path, '--yes'], [outer, '--to', 'outer:/elsewhere']]) {
      expectExit(await home.shelfd(['sync', ...args]), 2, /twice.*shelfd mirrors forget outer/s, String(args))
    }
    expect(readLibrary(home.dataDir)).toHaveLength(before)
    expect((await home.shelfd(['mirrors', 'forget', 'outer', '--yes'])).exitCode).toBe(0)
    expect((await home.sync([inner])).exitCode).toBe(0)
  })

  test('--to is refused where the directory goes to another place already', async () => {
    const { home, outer } = nestedHome()
    const to = ['sync', outer, '--to', 'Other']
    const goes = `shelfd: "${outer}" goes to "outer:/outer" already, by the mirror "outer", and each file would be sent twice`
    configure(home, { mirrors: [{ name: 'outer', path: outer, library: 'outer' }] })
    const inConfiguration = expectExit(await home.shelfd(to), 2, 'change its library or path in the configuration')
    expect(inConfiguration.stderr).toContain(`${goes}; leave out --to, or`)
    configure(home, {})
    expect((await home.sync([outer])).exitCode).toBe(0)
    expect((await home.shelfd(to)).stderr).toContain(`${goes}; leave out --to, or first "shelfd mirrors forget outer"`)
  })

  test('a directory around a mirror is refused with how much it holds', async () => {
    const { home, outer } = nestedHome()
    expect((await home.sync([outer])).exitCode).toBe(0)
    for (const [directory, breadth] of [
      ['/', 'the whole system'],
      ['.', 'the whole home directory'],
    ]) {
      const { stderr } = expectExit(await home.shelfd(['sync', `${directory}`]), 2, /^shelfd: "\S+" holds /)
      expect(stderr).toContain(`holds ${breadth}, and the mirror "outer" ("${outer}") lies in it`)
      expect(stderr).toContain('shelfd mirrors forget outer')
      expect(stderr).not.toContain('.shelfdignore')
    }
  })

  test('an ad hoc directory is not compared with inactive mirrors', async () => {
    const { home, outer, inner } = nestedHome()
    configure(home, { mirrors: [{ name: 'inner', path: inner }] })
    expect((await home.sync([])).exitCode).toBe(0)
    configure(home, {})
    expect((await home.sync([outer])).exitCode).toBe(0)
  })

  test('a directory given twice is synced once', async () => {
    const { home, outer } = nestedHome()
    const { exitCode, summary } = await home.sync([outer, 'outer'])
    expect({ exitCode, mirrors: summary.mirrors.length }).toEqual({ exitCode: 0, mirrors: 1 })
  })
})

describe('directories that hold the home or the system', () => {
  test('a whole home or system needs --yes before it is mirrored', async () => {
    const home = temporaryHome()
    home.write('.', { 'a.md': 'A' })
    for (const directory of ['.', '..', '/', '/usr']) {
      expectExit(await home.shelfd(['sync', directory]), 8, '--yes', String(directory))
    }
    expect(existsSync(home.dataDir), 'the library was not even started').toBe(false)
    expect((await home.sync(['.', '--dry-run'])).mirror.uploads.created, 'a dry run sends nothing').toBe(1)
    expect((await home.sync(['.', '--yes'])).exitCode).toBe(0)
    expect((await home.sync(['.'])).exitCode, 'it is known now').toBe(0)
  })

  test('a whole home needs a yes on a terminal', async () => {
    const { home, shelfd } = createHome()
    mkdirSync(join(home, 'Papers'))
    const terminal = { isTerminal: true } as const
    expectExit(await shelfd('sync .', { ...terminal, stdin: 'n\n' }), 8, /whole home directory.*\[y\/N\]/s)
    expect((await shelfd('sync .', { ...terminal, stdin: 'y\n' })).exitCode).toBe(0)
  })

  test('a directory of secrets needs a yes, by its name and in the configuration, and its secrets stay out', async () => {
    const home = temporaryHome()
    const path = home.write('.aws', { credentials: 'canary', 'notes.md': 'A note.' })
    expectExit(await home.shelfd(['sync', '.aws']), 8, `Mirroring "${path}" sends secrets; if that is meant:`)
    configure(home, { mirrors: [{ name: 'aws', path, settle: '0s' }] })
    expectExit(await home.shelfd(['sync']), 8, 'sends secrets')
    const { exitCode, mirror } = await home.sync(['aws', '--yes'])
    expect({ exitCode, created: mirror.uploads.created, ignored: mirror.files.ignored }).toEqual({
      exitCode: 0,
      created: 1,
      ignored: 1,
    })
    expect((await home.shelfd(['why', join(path, 'credentials')])).stdout).toContain('**/.aws/credentials')
  })

  test('a whole home halts in a daemon until it is confirmed', PATIENT, async () => {
    const home = temporaryHome()
    home.write('.', { 'a.md': 'A' })
    configure(home, { mirrors: [{ name: 'all', path: home.path, settle: '100ms' }] })
    const daemon = await startDaemon(home)
    const status = await daemon.until('it asks', ({ mirrors }) => mirrors[0]?.state === 'halted')
    expect(status.mirrors[0]?.reason).toMatchObject({
      code: 'confirmation-needed',
      message: expect.stringContaining('"shelfd sync all --yes"'),
    })
    expect(await home.shelfd(['sync'])).toMatchObject({ exitCode: 8 })
    expect(existsSync(home.dataDir), 'the library was not even started').toBe(false)
    expect((await home.shelfd(['sync', 'all', '--yes'])).exitCode).toBe(0)
    await daemon.until('it continues', isIdle)
    expect((await daemon.stop()).exitCode).toBe(0)
  })
})
