/** A real daemon that loses a directory, its store or its watches: what it must not do by itself, and which command resolves it. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DaemonMirrorStatus, DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, type Home } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { needs } from '../support/needs.ts'
import { manyFiles } from '../support/temporary.ts'

/** Longer than `until` waits, so that a failure names the awaited condition. */
const PATIENT = { timeout: 180_000 }
const FILES = 6

/** Mirrors of these names, each with files of its own. */
function writeMirrors(home: Home, names: readonly string[]) {
  return names.map((name) => {
    const files = Object.entries(manyFiles(FILES, FILES)).map(([path, text]) => [path, `${name}: ${text}`] as const)
    const path = home.write(name, Object.fromEntries(files))
    return { name, path, library: 'Research', settle: '100ms', rescan: '3s' }
  })
}

function statusOf({ mirrors }: DaemonStatus, name: string): DaemonMirrorStatus | undefined {
  return mirrors.find((mirror) => mirror.name === name)
}

function countHalted({ mirrors }: DaemonStatus): number {
  return mirrors.filter(({ state }) => state === 'halted').length
}

/** `shelfd …` as a message quotes it, for a mirror that is given by its name. */
function commandIn(message: string): string[] {
  const [, words = ''] = /"shelfd ([^"]+)"/.exec(message) ?? []
  return words.split(' ')
}

test('a lost root halts its mirror alone until resolved [P12]', PATIENT, async () => {
  const { service, home } = await homeOnService()
  const port = await freePort()
  const mirrors = writeMirrors(home, ['gone', 'replaced', 'emptied', 'well'])
  configure(home, { mirrors, health: { listen: `127.0.0.1:${port}` } })
  const daemon = await startDaemon(home)
  await daemon.until('everything is mirrored', isIdle)
  const before = dumpStore(home.stateDir)
  service.forget()

  renameSync(join(home.path, 'gone'), join(home.path, 'away'))
  renameSync(join(home.path, 'replaced'), join(home.path, 'former'))
  home.write('replaced', { 'other.md': 'of the other directory' })
  for (const name of readdirSync(join(home.path, 'emptied'))) {
    rmSync(join(home.path, 'emptied', name), { recursive: true })
  }
  await daemon.until('three are halted', (status) => countHalted(status) === 3)
  expect(dumpStore(home.stateDir)).toEqual(before)
  expect(service.count('uploadFile')).toBe(0)
  home.write('well', { 'late.md': 'written meanwhile' })
  await daemon.until('all of it is there', () => readLibrary(service.dataDir).length === 4 * FILES + 1)

  const status: DaemonStatus = (await home.json(['status'])).daemon
  expect(status.mirrors).toMatchObject([
    { name: 'gone', state: 'halted', reason: { code: 'root-missing' } },
    { name: 'replaced', state: 'halted', reason: { code: 'root-mismatch' } },
    { name: 'emptied', state: 'halted', reason: { code: 'root-emptied' } },
    { name: 'well', reason: null },
  ])
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  expect({ status: ready.status, body: await ready.json() }).toMatchObject({
    status: 503,
    body: { failing: ['gone', 'replaced', 'emptied'].map((name) => ({ check: `mirror:${name}` })) },
  })

  renameSync(join(home.path, 'away'), join(home.path, 'gone'))
  for (const name of ['replaced', 'emptied']) {
    const command = commandIn(statusOf(status, name)?.reason?.message ?? '')
    expect(await home.shelfd(command)).toMatchObject({ exitCode: 0, stderr: '' })
  }
  await daemon.until('all continue', (now) => countHalted(now) === 0 && isIdle(now))
  expect(service.requests.filter(({ route }) => route === 'uploadFile').map(({ fileName }) => fileName)).toEqual([
    'late.md',
    'other.md',
  ])
  expect(await fetch(`http://127.0.0.1:${port}/readyz`)).toMatchObject({ status: 200 })
  const { exitCode, stderr } = await daemon.stop()
  expect(exitCode).toBe(0)
  expect(stderr.match(/the mirror is halted/g)).toHaveLength(3)
  expect(stderr.match(/the mirror continues/g)).toHaveLength(3)
})

test('a daemon ends when its store is deleted, the next one asks [P14, F-PR-05]', PATIENT, async () => {
  const { service, home } = await homeOnService()
  configure(home, { mirrors: writeMirrors(home, ['papers']) })
  const first = await startDaemon(home)
  await first.until('everything is mirrored', isIdle)
  service.forget()
  rmSync(home.stateDir, { recursive: true })
  expectExit(await first.ended, 78, /^shelfd: The store in .* was deleted/m)
  expect(existsSync(home.stateDir)).toBe(false)

  const daemon = await startDaemon(home)
  const status = await daemon.until('it asks', (now) => countHalted(now) === 1)
  const reason = statusOf(status, 'papers')?.reason
  expect(reason?.code).toBe('confirmation-needed')
  home.write('papers', { 'late.md': 'written meanwhile' })
  expect((await home.shelfd(['sync', 'papers'])).exitCode).toBe(8)
  expect(service.count('uploadFile')).toBe(0)

  // For the new state this sync is the first one.
  const stderrOfFirst = 'Next: shelfd search WORDS · shelfd report · shelfd status\n'
  expect(await home.shelfd(commandIn(reason?.message ?? ''))).toMatchObject({ exitCode: 0, stderr: stderrOfFirst })
  await daemon.until('it continues', isIdle)
  home.write('papers', { 'later.md': 'written afterwards' })
  await daemon.until('it is sent', () => service.count('uploadFile') === 2)
  await daemon.until('all is settled', isIdle)
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 })
  expect(readLibrary(service.dataDir)).toHaveLength(FILES + 2)
  // The daemon adopts the resources that were there, and sends none of them again.
  expect(service.count('uploadFile')).toBe(2)
})

/** Each user name space has its own limit of watches, which its creator may set. */
const WITH_FEW = ['unshare', '-Ur', 'sh', '-c', 'echo 10 > /proc/sys/user/max_inotify_watches && exec "$@"', 'sh']

test('a reached limit of watches is logged once, and scans continue [F-FS-20]', PATIENT, async () => {
  needs('unshare', 'watch-limits')
  const { service, home } = await homeOnService()
  const [mirror] = writeMirrors(home, ['papers'])
  for (let index = 0; index < 20; index += 1) mkdirSync(join(home.path, 'papers', `more-${index}`))
  configure(home, { mirrors: [{ ...mirror, pollInterval: '1s' }] })
  const daemon = await startDaemon(home, {}, WITH_FEW)
  const status = await daemon.until('everything is mirrored', isIdle)
  expect(statusOf(status, 'papers')).toMatchObject({ watcher: 'node', isWatchLimited: true })
  for (const name of ['more-0', 'more-19']) home.write(join('papers', name), { 'new.md': `new in ${name}` })
  await daemon.until('all of it is there', () => readLibrary(service.dataDir).length === FILES + 2)
  const { exitCode, stderr } = await daemon.stop()
  expect(exitCode).toBe(0)
  expect(stderr.match(/.*max_user_watches.*/g)).toEqual([
    expect.stringMatching(/raise it with .*sysctl fs\.inotify\.max_user_watches=\d+/),
  ])
})
