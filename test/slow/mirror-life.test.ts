/** What happens to mirrors when the configuration or their service changes. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'

const PATIENT = { timeout: 120_000 }

/** `papers` and `mail` are configured and were synced once; each has something new to send. */
async function twoMirrors() {
  const { service, home } = await homeOnService()
  const mirrors = ['papers', 'mail'].map((name) => {
    const path = home.write(name, { 'a.md': `${name} a` })
    return { name, path, library: 'Research', settle: '100ms', rescan: '1s' }
  })
  const configureOnly = (...names: readonly string[]) =>
    configure(home, { mirrors: mirrors.filter(({ name }) => names.includes(name)) })
  configureOnly('papers', 'mail')
  return { service, home, configureOnly }
}

function namesOf(stdout: string): string[] {
  return JSON.parse(stdout).mirrors.map(({ name }: { name: string }) => name)
}

function sentNames(service: FaultyService): (string | undefined)[] {
  return service.requests.filter(({ route }) => route === 'uploadFile').map(({ fileName }) => fileName)
}

describe('mirrors removed from the configuration', () => {
  test('a removed mirror is sent by no sync and still shown', async () => {
    const { service, home, configureOnly } = await twoMirrors()
    expect((await home.sync([])).exitCode).toBe(0)
    configureOnly('papers')
    home.write('papers', { 'new.md': 'papers new' })
    home.write('mail', { 'new.md': 'mail new' })
    service.forget()
    const { exitCode, stdout } = await home.sync([])
    expect({ exitCode, names: namesOf(stdout), sent: sentNames(service) }).toEqual({
      exitCode: 0,
      names: ['papers'],
      sent: ['new.md'],
    })
    expect((await home.shelfd(['status'])).stdout).toMatch(
      /^mail → .*\n {2}! no longer configured · \d+ files? searchable at its last run$/m,
    )
    expect((await home.shelfd(['mirrors', 'list'])).stdout).toMatch(/^mail +no longer configured/m)
  })

  test('a removed mirror is refused by name and accepted by directory', async () => {
    const { service, home, configureOnly } = await twoMirrors()
    expect((await home.sync([])).exitCode).toBe(0)
    configureOnly('papers')
    home.write('mail', { 'new.md': 'mail new' })
    service.forget()
    expectExit(await home.shelfd(['sync', 'mail']), 2, /no longer configured.*shelfd sync \//)
    expect(sentNames(service)).toEqual([])
    const { exitCode, mirror } = await home.sync([join(home.path, 'mail')])
    expect({ exitCode, name: mirror.name, uploads: mirror.uploads }).toMatchObject({
      exitCode: 0,
      name: 'mail',
      uploads: { created: 1 },
    })
    configure(home, {})
    expect(namesOf((await home.sync([])).stdout), 'it is ad hoc now, and papers is not').toEqual(['mail'])
  })

  test('a removed mirror is not synced when it was the only one', async () => {
    const { service, home, configureOnly } = await twoMirrors()
    configureOnly('mail')
    expect((await home.sync([])).exitCode).toBe(0)
    configure(home, {})
    home.write('mail', { 'new.md': 'mail new' })
    service.forget()
    expectExit(await home.shelfd(['sync']), 2, 'mail')
    expect(sentNames(service)).toEqual([])
  })

  test('a removed mirror is not watched after SIGHUP or restart', PATIENT, async () => {
    const { service, home, configureOnly } = await twoMirrors()
    const daemon = await startDaemon(home)
    await daemon.until('both are mirrored', isIdle)
    configureOnly('papers')
    daemon.child.kill('SIGHUP')
    const reloaded = await daemon.until('one is left', ({ mirrors }) => mirrors.length === 1)
    expect(reloaded.mirrors).toMatchObject([{ name: 'papers' }])
    home.write('mail', { 'after-hangup.md': 'mail, after the hangup' })
    home.write('papers', { 'after-hangup.md': 'papers, after the hangup' })
    await daemon.until('papers is sent', () => readLibrary(service.dataDir).length === 3)
    await daemon.until('all is settled', isIdle)
    configure(home, {})
    daemon.child.kill('SIGHUP')
    await daemon.until('none is left', ({ mirrors }) => mirrors.length === 0)
    expect((await daemon.stop()).exitCode).toBe(0)

    configureOnly('papers')
    const next = await startDaemon(home)
    home.write('papers', { 'after-restart.md': 'papers, after the restart' })
    await next.until('papers is sent', () => readLibrary(service.dataDir).length === 4)
    const status = await next.until('all is settled', isIdle)
    expect(status.mirrors.map(({ name }) => name)).toEqual(['papers'])
    expect((await next.stop()).exitCode).toBe(0)
    expect(sentNames(service).filter((name) => name?.startsWith('after-'))).toEqual([
      'after-hangup.md',
      'after-restart.md',
    ])
  })
})

test('an ad hoc mirror is synced by name, or without configured mirrors', async () => {
  const { service, home, configureOnly } = await twoMirrors()
  configureOnly('papers')
  const outside = home.write('outside', { 'o.md': 'outside' })
  expect((await home.sync([outside, '--to', 'Research'])).exitCode).toBe(0)
  home.write('outside', { 'new.md': 'outside new' })
  expect(namesOf((await home.sync([])).stdout)).toEqual(['papers'])
  expect((await home.sync(['outside'])).mirror.uploads.created).toBe(1)
  configure(home, {})
  home.write('outside', { 'newer.md': 'outside newer' })
  expect(namesOf((await home.sync([])).stdout)).toEqual(['outside'])
  expect(sentNames(service)).toContain('newer.md')
})

/** A home that mirrors into its own library, and a service that is configured afterwards. */
async function embeddedThenService() {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'pelican', 'b.md': 'heron' })
  const service = await startFaultyService({ library: 'Research' })
  const asService = (
    mirrors: readonly Readonly<Record<string, unknown>>[],
    more: Readonly<Record<string, unknown>> = {},
  ) => {
    writeFileSync(join(home.path, 'token'), service.token, { mode: 0o600 })
    const tokenFile = join(home.path, 'token')
    configure(home, { service: { url: service.url, tokenFile }, ingestion: { firstPoll: '5ms' }, mirrors, ...more })
  }
  return { home, root, service, asService }
}

/** Mirrors a directory into the embedded library; returns that mirror and another one as they are to be in the service. */
async function mirrorThenAnother(home: Home, root: string) {
  configure(home, { mirrors: [{ name: 'papers', path: root }] })
  expect((await home.sync([])).exitCode).toBe(0)
  const common = { library: 'Research', settle: '100ms' }
  const other = { name: 'other', path: home.write('other', { 'o.md': 'other' }), ...common }
  return [{ name: 'papers', path: root, ...common }, other]
}

const listMirrors = async (home: Home) => (await home.json(['mirrors', 'list'])).mirrors

describe('a service configured after the embedded library', () => {
  test('a configured service can mirror the directory of an embedded mirror', async () => {
    const { home, root, service, asService } = await embeddedThenService()
    expect((await home.run(['sync', 'Papers'])).exitCode).toBe(0)
    asService([{ path: root, library: 'Research' }])
    expectExit(await home.shelfd(['why', '/elsewhere/x.md']), 2, `(mirrors: ${root})`, 'each name once')
    expectExit(await home.shelfd(['pause', 'nothing-like-it']), 2, '(mirrors: Papers)')
    const dry = await home.sync(['--dry-run'])
    expect({ exitCode: dry.exitCode, would: dry.mirror.uploads.created }).toEqual({ exitCode: 0, would: 2 })
    const { exitCode, mirror } = await home.sync([])
    expect({ exitCode, name: mirror.name, created: mirror.uploads.created }).toEqual({
      exitCode: 0,
      name: 'Papers',
      created: 2,
    })
    expect(readLibrary(service.dataDir)).toHaveLength(2)
    expect(await home.shelfd(['report', '--check']), 'nothing of the directory is left out').toMatchObject({
      exitCode: 0,
      stderr: '',
    })
    expectExit(await home.shelfd(['sync', 'Papers-2']), 7, /"Papers" mirrors.*forget Papers-2/)
    expect(await listMirrors(home)).toMatchObject([
      { name: 'Papers', activity: 'active', library: { name: 'Research' } },
      { name: 'Papers-2', activity: 'other-service', library: { name: 'Papers' } },
    ])
  })

  test('one command mirrors an ad hoc directory into the service', async () => {
    const { home, service, asService } = await embeddedThenService()
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    asService([])
    expectExit(await home.shelfd(['sync', 'Papers']), 7, /belongs to the library on this computer.*--to LIBRARY/)
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research:/Papers'])
    expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 0, created: 2 })
    expect(readLibrary(service.dataDir)).toHaveLength(2)
    expect(namesOf((await home.sync([])).stdout)).toEqual(['Papers'])
  })

  test('a mirror of the embedded library is refused, others are synced', async () => {
    const { home, root, service, asService } = await embeddedThenService()
    const mirrors = await mirrorThenAnother(home, root)
    asService(mirrors)
    const { summary } = expectExit(await home.sync([]), 7, '"shelfd mirrors forget papers"')
    expect(summary.mirrors).toMatchObject([
      { name: 'other', uploads: { created: 1 } },
      { name: 'papers', uploads: { created: 0 }, problems: [{ code: 'origin-mismatch' }] },
    ])
    expectExit(await home.shelfd(['report']), 0, /papers.*library on this computer/)
    expect(await home.shelfd(['report', 'papers', '--json'])).toMatchObject({ exitCode: 7, stdout: '' })
    expect((await home.shelfd(['report', '--check'])).exitCode, 'one is not compared at all').toBe(1)

    const forgotten = await home.shelfd(['mirrors', 'forget', 'papers', '--yes'])
    expect(forgotten.exitCode).toBe(0)
    expect((await home.sync([])).exitCode).toBe(0)
    expect(readLibrary(service.dataDir)).toHaveLength(3)
    expect(readLibrary(home.dataDir), 'what lies in the embedded library stays').toHaveLength(2)
  })

  test('a mirror of the embedded library leaves the daemon ready', PATIENT, async () => {
    const { home, root, asService } = await embeddedThenService()
    const mirrors = await mirrorThenAnother(home, root)
    const port = await freePort()
    asService(mirrors, { health: { listen: `127.0.0.1:${port}` } })
    const daemon = await startDaemon(home)
    const status = await daemon.until('the other is mirrored', isIdle)
    expect(status.mirrors.map(({ name }) => name)).toEqual(['other'])
    expect(daemon.log()).toMatch(/papers.*shelfd mirrors forget papers/)
    expect(await fetch(`http://127.0.0.1:${port}/readyz`)).toMatchObject({ status: 200 })
    expect((await home.shelfd(['mirrors', 'forget', 'papers', '--yes'])).exitCode).toBe(0)
    const now = await daemon.until(
      'the forgotten mirror starts again',
      ({ mirrors: all, ...rest }) => all.length === 2 && isIdle({ mirrors: all, ...rest }),
    )
    expect(now.mirrors.map(({ name }) => name)).toEqual(['papers', 'other'])
    expect((await daemon.stop()).exitCode).toBe(0)
  })
})

describe('mistyped and unused mirrors', () => {
  test('every command names the nearest mirror for a mistyped one', async () => {
    const { home } = await twoMirrors()
    expect((await home.sync([])).exitCode).toBe(0)
    for (const args of [
      ['report', 'paprs'],
      ['pause', 'paprs'],
      ['sync', 'paprs'],
      ['mirrors', 'show', 'paprs'],
    ]) {
      expectExit(await home.shelfd(args), 2, 'did you mean "papers"?', String(args))
    }
  })

  test('a mirror that was never synced is reported as such', async () => {
    const { home } = await twoMirrors()
    expectExit(await home.shelfd(['report', 'mail']), 2, 'was never synced')
    expect((await home.sync(['papers'])).exitCode).toBe(0)
    expectExit(await home.shelfd(['report', 'mail']), 2, 'was never synced')
    expectExit(await home.shelfd(['report']), 0, /mail.*never synced/)
  })

  test('a report without a mirror is no success', async () => {
    const home = temporaryHome()
    expectExit(await home.shelfd(['sync', '/mistyped']), 3, 'does not exist')
    for (const flags of [[], ['--check'], ['--check', '--quiet'], ['--json'], ['--output', 'page.html']]) {
      const { stdout } = expectExit(await home.shelfd(['report', ...flags]), 2, 'Nothing was mirrored yet')
      expect(stdout, String(flags)).toBe('')
    }
    const { home: another, configureOnly } = await twoMirrors()
    expect((await another.sync([])).exitCode).toBe(0)
    configureOnly()
    const says = /papers \(no longer configured\).*shelfd: Nothing to report: .*"shelfd mirrors list"/s
    expectExit(await another.shelfd(['report', '--check']), 2, says)
  })
})

test('an inactive mirror keeps its known files', async () => {
  const { home, configureOnly } = await twoMirrors()
  expect((await home.sync([])).exitCode).toBe(0)
  configureOnly('papers')
  renameSync(join(home.path, 'mail'), join(home.path, 'gone'))
  expect((await home.sync([])).exitCode).toBe(0)
  configureOnly('papers', 'mail')
  renameSync(join(home.path, 'gone'), join(home.path, 'mail'))
  const { exitCode, summary } = await home.sync([])
  expect({ exitCode, files: summary.mirrors[1]?.files }).toMatchObject({ exitCode: 0, files: { unchanged: 1, new: 0 } })
})
