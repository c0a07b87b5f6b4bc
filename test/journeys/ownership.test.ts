/** Only this user and root may decide what is run, read and sent. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { startEmbeddedInThread } from '../../src/embedded/start-in-thread.ts'
import { findIntruder } from '../../src/foundation/files/ownership.ts'
import { replaceFile } from '../../src/foundation/files/replace-file.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const SOMEBODY = 54_321
const own = process.geteuid?.() ?? 0

/** A configuration whose tokenCommand leaves a trace when it is run. */
function configureCommand(home: Home): { readonly file: string; readonly trace: string } {
  const trace = join(home.path, 'was-run')
  const service = { url: 'https://library.example', tokenCommand: ['sh', '-c', `touch ${trace}; echo token`] }
  home.write('config/shelfd', { 'config.yaml': stringify({ service }) })
  return { file: join(home.path, 'config/shelfd/config.yaml'), trace }
}

describe('configuration files', () => {
  test('a configuration of another user is refused before its tokenCommand runs [S-06]', async () => {
    needs('root')
    const home = temporaryHome()
    const { file, trace } = configureCommand(home)
    chownSync(file, SOMEBODY, SOMEBODY)
    const { stderr } = expectExit(
      await home.shelfd(['whoami']),
      2,
      `Cannot use "${file}": its settings decide what runs and what is sent, and it belongs to user ${SOMEBODY}`,
    )
    expect(stderr).toContain(`run: sudo chown ${own} "${file}"`)
    expect(existsSync(trace)).toBe(false)
  })

  test('a configuration that others can write is refused with its remedy [S-06]', async () => {
    const home = temporaryHome()
    const { file, trace } = configureCommand(home)
    chmodSync(file, 0o666)
    expectExit(await home.shelfd(['whoami']), 2, `chmod go-w "${file}"`)
    expect(existsSync(trace)).toBe(false)
  })

  test('a configuration in a directory that others can write is refused', async () => {
    const home = temporaryHome()
    configureCommand(home)
    const directory = join(home.path, 'config/shelfd')
    chmodSync(directory, 0o777)
    const refused = await home.shelfd(['config', 'show'])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(`chmod go-w "${directory}"`)
    // As in /tmp: others can add files there, and replace none.
    chmodSync(directory, 0o1777)
    expect((await home.shelfd(['config', 'show'])).exitCode).toBe(0)
  })

  test('a configuration of another user cannot choose the state', async () => {
    needs('root')
    const home = temporaryHome()
    home.write('config/shelfd', { 'config.yaml': stringify({ stateDir: join(home.path, 'theirs') }) })
    chownSync(join(home.path, 'config/shelfd/config.yaml'), SOMEBODY, SOMEBODY)
    home.write('theirs', { 'store.db': 'no database' })
    const { exitCode, stderr } = await home.shelfd(['status'])
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.not.stringContaining('store.db') })
  })

  test('an empty configuration may belong to any user', async () => {
    needs('root')
    const home = temporaryHome()
    home.write('config/shelfd', { 'config.yaml': '# nothing\n' })
    chownSync(join(home.path, 'config/shelfd/config.yaml'), SOMEBODY, SOMEBODY)
    expect((await home.shelfd(['config', 'show'])).exitCode).toBe(0)
    expect((await home.shelfd(['config', 'show'], { SHELFD_CONFIG: '/dev/null' })).exitCode).toBe(0)
  })
})

describe('token files', () => {
  test('a token file of another user is refused [S-06]', async () => {
    needs('root')
    const home = temporaryHome()
    home.write('secrets', { token: 'theirs-4f1c9b7d2e' })
    const file = join(home.path, 'secrets/token')
    chmodSync(file, 0o600)
    chownSync(file, SOMEBODY, SOMEBODY)
    const env = { SHELFD_SERVICE_URL: 'https://library.example', SHELFD_TOKEN_FILE: file }
    expectExit(
      await home.shelfd(['whoami'], env),
      2,
      `it holds a secret, and it belongs to user ${SOMEBODY}; run: sudo chown ${own} "${file}"`,
    )
  })

  test('a token file behind links is judged by its target', async () => {
    await using service = await startFaultyService()
    const home = temporaryHome()
    // As Kubernetes mounts secrets: a directory for all, two links, the file.
    home.write('secrets/..1', { token: `${service.token}\n` })
    chmodSync(join(home.path, 'secrets'), 0o1777)
    symlinkSync('..1', join(home.path, 'secrets/..data'))
    symlinkSync('..data/token', join(home.path, 'secrets/token'))
    const file = join(home.path, 'secrets/..1/token')
    const env = { SHELFD_SERVICE_URL: service.url, SHELFD_TOKEN_FILE: join(home.path, 'secrets/token') }
    chmodSync(file, 0o400)
    expect((await home.shelfd(['whoami'], env)).exitCode).toBe(0)
    chmodSync(file, 0o644)
    expectExit(await home.shelfd(['whoami'], env), 2, '0644')
  })
})

describe('programs, authorities and groups', () => {
  test('a program or authority that others can write is refused [S-06]', async () => {
    const home = temporaryHome()
    const { trace } = configureCommand(home)
    home.write('bin', { 'get-token': `#!/bin/sh\ntouch ${trace}\necho token\n`, 'ca.pem': 'none' })
    const [program, caFile] = [join(home.path, 'bin/get-token'), join(home.path, 'bin/ca.pem')]
    chmodSync(program, 0o777)
    chmodSync(caFile, 0o666)
    const url = 'https://library.example'
    for (const service of [
      { url, tokenCommand: ['../../bin/get-token'] },
      { url, caFile, token: 'x' },
    ]) {
      home.write('config/shelfd', { 'config.yaml': stringify({ service }) })
      chmodSync(join(home.path, 'config/shelfd/config.yaml'), 0o600)
      expectExit(await home.shelfd(['whoami']), 2, /chmod go-w ".*\/bin\//)
    }
    expect(existsSync(trace)).toBe(false)
  })

  test('only a group that a user has alone may write', () => {
    const judge = (gid: number, mode: number) => findIntruder('x', { uid: 1_000, gid, mode }, { owners: 'anyone' })
    expect(judge(1_000, 0o664)).toBeUndefined()
    expect(judge(100, 0o664)?.why).toBe('others can write it (mode 0664)')
    expect(judge(1_000, 0o666)?.fix).toBe('chmod go-w "x"')
    expect(findIntruder('x', { uid: 0, gid: 0, mode: 0o664 }, { owners: 'anyone' })).toBeDefined()
  })
})

describe('the state directory', () => {
  test('every command refuses a state directory that others can write [S-06]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    mkdirSync(home.stateDir, { recursive: true })
    chmodSync(home.stateDir, 0o777)
    for (const args of [['sync', 'Papers'], ['status'], ['report'], ['daemon'], ['pause'], ['failed', 'list']]) {
      const { exitCode, stderr } = await home.shelfd(args)
      expect([args[0], exitCode, stderr.includes(`chmod go-w "${home.stateDir}"`)]).toEqual([args[0], 2, true])
    }
    expect(readdirSync(home.stateDir)).toEqual([])
  })

  test("root may read another user's state directory, not use it", async () => {
    needs('root')
    const home = homeWithPapers({ 'a.md': 'A' })
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    chownSync(home.stateDir, SOMEBODY, SOMEBODY)
    expectExit(
      await home.shelfd(['sync', 'Papers']),
      2,
      `it belongs to user ${SOMEBODY}; run: sudo -u "#${SOMEBODY}" shelfd …`,
    )
    expect((await home.shelfd(['status'])).exitCode).toBe(0)
  })

  test("a state directory behind another user's link is refused [S-18]", async () => {
    needs('root')
    const home = homeWithPapers({ 'a.md': 'A' })
    const target = home.write('elsewhere/', {})
    symlinkSync(target, join(home.path, 'link'))
    expect((await home.shelfd(['status', '--state-dir', join(home.path, 'link')])).exitCode).toBe(0)
    const link = home.write('planted/', {})
    symlinkSync(target, join(link, 'state'))
    lchownSync(join(link, 'state'), SOMEBODY, SOMEBODY)
    expect((await home.shelfd(['sync', 'Papers', '--state-dir', join(link, 'state')])).exitCode).toBe(2)
    expect(readdirSync(target)).toEqual([])
  })

  test('state and library are readable for their user alone [S-05]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const { exitCode } = await home.run(['sync', 'Papers'])
    expect(exitCode).toBe(0)
    for (const directory of [home.stateDir, home.dataDir]) {
      expect(lstatSync(directory).mode & 0o777).toBe(0o700)
      for (const name of readdirSync(directory))
        expect([name, lstatSync(join(directory, name)).mode & 0o077]).toEqual([name, 0])
    }
  })
})

test('a library directory that others can write is refused', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  mkdirSync(home.dataDir, { recursive: true })
  chmodSync(home.dataDir, 0o777)
  expectExit(await home.shelfd(['sync', 'Papers']), 2, `chmod go-w "${home.dataDir}"`)
  await expect(startEmbeddedInThread({ dataDir: home.dataDir })).rejects.toMatchObject({ code: 'insecure-file' })
  expect(readdirSync(home.dataDir)).toEqual([])
})

describe('compiled code', () => {
  test('compiled code is kept in a private cache of its user [S-05, S-18]', async () => {
    const home = temporaryHome()
    const shared = home.write('tmp/', {})
    const cache = home.write('cache/', {})
    const env = { TMPDIR: shared, NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: cache }
    expect((await home.run(['config', 'path'], env)).exitCode).toBe(0)
    expect(readdirSync(shared)).toEqual([])
    expect(lstatSync(join(cache, 'shelfd/code')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(cache, 'shelfd/code'))).toHaveLength(1)
  })

  test('a code cache of another user is never used [S-18]', async () => {
    needs('root')
    const home = temporaryHome()
    const code = home.write('cache/shelfd/code/', {})
    chownSync(code, SOMEBODY, SOMEBODY)
    const env = { TMPDIR: home.path, NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(home.path, 'cache') }
    expect((await home.run(['config', 'path'], env)).exitCode).toBe(0)
    expect(readdirSync(code)).toEqual([])
  })
})

describe('planted links', () => {
  test('files of the state replace planted links, not their targets [S-18]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const victim = join(home.write('other', { precious: '' }), 'precious')
    for (const directory of [home.stateDir, home.dataDir]) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      for (const name of ['lock', 'generation.new', 'control', 'control.new', 'token.new', 'instance.new'])
        symlinkSync(victim, join(directory, name))
    }
    configure(home, { mirrors: [{ path: join(home.path, 'Papers') }] })
    const daemon = await startDaemon(home)
    expect((await daemon.stop()).exitCode).toBe(0)
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
    expect(readFileSync(victim, 'utf8')).toBe('')
    expect(lstatSync(join(home.stateDir, 'lock')).isFile()).toBe(true)
  })

  test('a replaced file follows no planted link [S-05, S-18]', () => {
    const directory = temporaryDirectory()
    const [victim, file] = [join(directory, 'victim'), join(directory, 'record')]
    writeFileSync(victim, 'precious')
    for (const name of ['record', 'record.new']) symlinkSync(victim, join(directory, name))
    replaceFile(file, 'new\n')
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(readFileSync(file, 'utf8')).toBe('new\n')
    expect(readdirSync(directory).sort()).toEqual(['record', 'victim'])
  })
})
