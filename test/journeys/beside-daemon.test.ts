/** Commands beside a process that holds the store and the library, as the daemon does; here the test's own process holds them. */
import { mkdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { daemonStatusJson } from '../../src/cli/commands/status.ts'
import type { ControlHandlers, SyncRequest } from '../../src/daemon/control/protocol.ts'
import { startControlServer } from '../../src/daemon/control/server.ts'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { HeldBackError, InterruptedError, messageOf } from '../../src/foundation/errors.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import type { Engine } from '../../src/sync/engine.ts'
import { isPaused, pauseMirrors, resumeMirrors } from '../../src/sync/operator/pause-mirrors.ts'
import { retryFailures, setFailuresAside } from '../../src/sync/operator/quarantine.ts'
import { recordRemoval } from '../../src/sync/operator/tidy-library.ts'
import { forgetMirror } from '../../src/sync/pin/pin-mirror.ts'
import { runSync } from '../../src/sync/run/run-sync.ts'
import { runResult } from '../daemon/control/control-daemon.ts'
import { daemonMirrorStatus, daemonStatus } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { openTestEngine } from '../support/engine.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'

const reportedStatus = daemonStatus({
  mirrors: [daemonMirrorStatus({ settling: 3 }), daemonMirrorStatus({ name: 'mail', state: 'scanning' })],
})

/** Holds the home's store and library and answers its commands. */
async function startStandIn(home: Home, changed: Partial<ControlHandlers> = {}) {
  mkdirSync(home.stateDir, { recursive: true })
  const library = await startEmbeddedLibrary({ dataDir: home.dataDir })
  const { engine, store } = openTestEngine(library, { stateDir: home.stateDir })
  const identity = `embedded:${library.instanceId}`
  const service = { ...engine.service, identity, isEmbedded: true }
  const requests: SyncRequest[] = []
  const handlers: ControlHandlers = {
    status: async () => reportedStatus,
    sync: (request, run) => {
      requests.push(request)
      const here: Engine = { ...engine, ...run, service, limits: request.limits }
      return runSync(here, request.mirrors, request.options)
    },
    pause: async (names) => pauseMirrors(store, names),
    resume: async (names) => resumeMirrors(store, names),
    retry: async (failures) => retryFailures(store, failures),
    ignore: async (failures) => setFailuresAside(store, failures),
    recordRemoval: async (removal) => recordRemoval(store, removal),
    forget: async (name) => forgetMirror(store, name, Date.now()),
    dashboard: () => Promise.reject(new Error('No dashboard is needed')),
    reload: async () => ({ mirrors: [] }),
    ...changed,
  }
  const input = { stateDir: home.stateDir, env: {}, service: home.dataDir, logger: silentLogger }
  const server = await startControlServer({ ...input, handlers })
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await library[Symbol.asyncDispose]()
  })
  return { store, requests }
}

/** A home with a mirror that was synced through the daemon. */
async function syncedHome() {
  const home = homeWithPapers({ 'a.md': 'pelican', 'copy.md': 'pelican' })
  const daemon = await startStandIn(home)
  return { home, ...daemon, first: await home.sync(['Papers', '--transfers', '3']) }
}

const NOTHING_BUT_A_NOTICE = /^(Candidates, not verified answers.*\n)?$/

describe('sync beside a daemon', () => {
  test('a sync beside a daemon runs in it, with the same summary [F-PR-08]', async () => {
    const { home, requests, first } = await syncedHome()
    expect({ exitCode: first.exitCode, stderr: first.stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(first.mirror).toMatchObject({ name: 'Papers', uploads: { created: 1, aliases: 1 } })
    expect(requests).toMatchObject([
      { limits: { transfers: 3 }, mirrors: [{ name: 'Papers', path: `${home.path}/Papers` }] },
    ])
    const { exitCode, stdout } = await home.shelfd(['sync', 'Papers', '--report'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/unchanged +2 files[\s\S]*Done in[\s\S]*in-sync/)
  })

  test('a sync beside a daemon names its flags without effect', async () => {
    const { home } = await syncedHome()
    const flags = ['--bwlimit', '1MB', '--requests-per-second', '5', '--transfers', '2', '--max-new', '9']
    const { stderr } = expectExit(await home.shelfd(['sync', 'Papers', ...flags]), 0, /^[^\n]*\n$/)
    expect(stderr).toMatch(/ warn .* these flags have no effect flags="--bwlimit --requests-per-second"/)
    expect((await home.shelfd(['sync', 'Papers', '--dry-run', ...flags])).stderr).toBe('')
    expect((await home.shelfd(['sync', 'Papers', '--quiet', ...flags])).stderr).toBe('')
  })

  test('a dry run beside a daemon sends it no request', async () => {
    const { home, requests } = await syncedHome()
    home.write('Papers', { 'new.md': 'heron' })
    const before = dumpStore(home.stateDir)
    const { exitCode, summary, mirror } = await home.sync(['Papers', '--dry-run'])
    expect({ exitCode, dryRun: summary.dryRun, created: mirror.uploads.created }).toEqual({
      exitCode: 0,
      dryRun: true,
      created: 1,
    })
    expect(requests).toHaveLength(1)
    expect(dumpStore(home.stateDir)).toEqual(before)
  })

  test("a sync beside a daemon fails with the daemon's error", async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    await startStandIn(home, { sync: () => Promise.reject(new HeldBackError('limit-reached', 'not now')) })
    expectExit(await home.shelfd(['sync', 'Papers']), 8, 'not now')
  })

  test('a sync in the daemon stops after its longest duration', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const reasons: string[] = []
    await startStandIn(home, {
      sync: async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        reasons.push(messageOf(signal.reason))
        throw signal.reason
      },
    })
    expect((await home.shelfd(['sync', 'Papers', '--max-duration', '1s'])).exitCode).toBe(8)
    expect(reasons).toEqual([expect.stringContaining('--max-duration 1s')])
  })

  test('Ctrl-C stops a sync in the daemon and prints its summary', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    const begun = Promise.withResolvers<void>()
    const reasons: string[] = []
    await startStandIn(home, {
      sync: async (_, { signal }) => {
        begun.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        reasons.push(messageOf(signal.reason))
        return runResult(new InterruptedError())
      },
    })
    const running = home.start(['sync', 'Papers', '--json'])
    await begun.promise
    running.child.kill('SIGINT')
    const { exitCode, stdout } = await running.ended
    expect({ exitCode, reasons, run: JSON.parse(stdout).run }).toEqual({
      exitCode: 130,
      reasons: ['Interrupted'],
      run: 7,
    })
    expect((await home.json(['status'])).daemon).not.toBeNull()
  })
})

describe('other commands beside a daemon', () => {
  test('status shows the state of a running daemon', async () => {
    const { home } = await syncedHome()
    expect(await home.json(['status'])).toMatchObject({
      mirrors: [{ name: 'Papers' }],
      daemon: daemonStatusJson(reportedStatus),
    })
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).toMatch(/^daemon: running for .* \(process 4711\)/)
    expect(stdout).toMatch(/settling +3 files/)
    expect(stdout).toMatch(/^mail: .*\n {2}→ scanning$/m)
  })

  test('every command beside a daemon reaches the embedded library', async () => {
    const { home } = await syncedHome()
    for (const args of [
      ['ls', 'Papers'],
      ['search', 'pelican'],
      ['whoami'],
      ['report', '--check'],
      ['api', 'GET', '/v1/libraries'],
    ]) {
      const { stdout } = expectExit(await home.shelfd(args), 0, NOTHING_BUT_A_NOTICE, String(args))
      expect(stdout).not.toBe('')
    }
  })

  test('another data directory beside a daemon is another library', async () => {
    const home = temporaryHome()
    await startStandIn(home)
    const elsewhere = await home.json(['whoami'], { SHELFD_DATA_DIR: `${home.path}/elsewhere` })
    expect(elsewhere.tenant.slug).not.toBe((await home.json(['whoami'])).tenant.slug)
  })

  test('pause and resume go through the daemon', async () => {
    const { home, store } = await syncedHome()
    expect(await home.shelfd(['pause', 'Papers'])).toMatchObject({ exitCode: 0, stderr: 'Paused: Papers\n' })
    expect(isPaused(store, 'Papers')).toBe(true)
    expect((await home.shelfd(['resume'])).exitCode).toBe(0)
    expect(isPaused(store, 'Papers')).toBe(false)
  })

  test("failed retry and failed ignore change the daemon's store", async () => {
    const { home, store } = await syncedHome()
    const [file] = store.report.listFiles(1, '')
    const id = file?.contentId ?? 0
    store.write(() => store.contents.setProblem(id, { code: 'ingestion-failed', message: 'broke', retryAt: 4e12 }))
    expect((await home.shelfd(['failed', 'ignore', 'Papers/a.md'])).stderr).toBe(
      'Set aside: 1 file; "shelfd failed retry" undoes this\n',
    )
    expect(store.contents.get(id)?.isSetAside).toBe(1)
    expect((await home.shelfd(['failed', 'retry', 'Papers/copy.md'])).stderr).toBe('Due now: 1 file\n')
    expect(store.contents.get(id)).toMatchObject({ isSetAside: 0, retryAt: 0 })
  })
})
