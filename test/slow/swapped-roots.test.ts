/** Mirrors whose directory is taken away, or replaced, while their files are sent: by a real command and a real daemon. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RunSummary } from '../../src/rules/sync-summary.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import { dumpStore } from '../support/dump-store.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { type Home, temporaryHome } from '../support/home.ts'
import { titlesIn } from '../support/library-contents.ts'
import { armSwap, possibleRootSwaps } from '../support/root-swaps.ts'

/** Longer than `until` waits, so that a failure names the awaited condition. */
const PATIENT = { timeout: 240_000 }
/** More than are planned ahead. */
const FILES = 60
const STRANGERS = 28
/** The upload that begins when its mirror is swapped. */
const SWAPPED_AT = 5

const numbered = (count: number, entry: (index: number) => readonly [string, string]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)))

function ownFiles(mirror: string) {
  return numbered(FILES, (index) => [`d${index % 4}/${mirror}-${index}.md`, `own ${mirror} ${index}`])
}

/** Some have the names of own files. */
function strangers(mirror: string) {
  return numbered(STRANGERS, (index) => [`d${index % 4}/${mirror}-${index * 2}.md`, `private ${mirror} ${index}`])
}

/** One mirror for each way to swap it, each swapped once some of its files are sent. */
async function openSwapped() {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
  const home = temporaryHome(service)
  const armed = possibleRootSwaps.map(([name, swap]) => {
    const path = join(home.path, name)
    return { name, path, swap: armSwap(swap, path, ownFiles(name), strangers(name)) }
  })
  const mirrors = armed.map(({ name, path }) => ({ name, path, library: 'Research', settle: '100ms' }))
  configure(home, { mirrors: mirrors.map((mirror) => ({ ...mirror, rescan: '1s' })) })
  const restores = new Map<string, () => void>()
  const uploads = new Map<string, number>()
  service.fault = ({ fileName }) => {
    const found = armed.find(({ name }) => fileName?.startsWith(`${name}-`))
    if (!found) return undefined
    const { name, swap } = found
    const count = (uploads.get(name) ?? 0) + 1
    uploads.set(name, count)
    if (count === SWAPPED_AT && !restores.has(name)) restores.set(name, swap())
    return undefined
  }
  const restore = () => restores.forEach((bringBack) => void bringBack())
  return { service, home, names: armed.map(({ name }) => name), restore, restores }
}

function assertOnlyOwn(service: FaultyService, home: Home): void {
  for (const { path, body } of service.requests) expect(`${path} ${body.toString('latin1')}`).not.toContain('private')
  expect(dumpStore(home.stateDir).history).toEqual([])
}

function titlesOf(service: FaultyService, mirror: string): string[] {
  return titlesIn(service)
    .filter((title) => title.startsWith(`${mirror}-`))
    .sort()
}

/** Every own file is there, once. */
function assertAllSent(service: FaultyService, names: readonly string[]): void {
  for (const name of names) {
    const own = Object.keys(ownFiles(name)).map((path) => path.slice(path.indexOf('/') + 1))
    expect(titlesOf(service, name)).toEqual(own.sort())
  }
}

describe('a root that is swapped while its files are sent (P12)', () => {
  test('a sync halts each mirror whose root is swapped, and sends the rest later [P12]', PATIENT, async () => {
    const { service, home, names, restore, restores } = await openSwapped()
    const { exitCode, stdout, stderr } = await home.run(['sync', '--json'])
    expect([...restores.keys()], stderr).toEqual(names)
    const summary: RunSummary = JSON.parse(stdout)
    for (const { name, path, uploads, files, problems } of summary.mirrors) {
      const created = titlesOf(service, name).length
      expect({ name, files, uploads, problems }, stderr).toMatchObject({
        files: { scanned: FILES, removed: 0 },
        uploads: { created, heldBack: FILES - created, failed: 0, inDoubt: 0 },
        problems: [{ path: '', code: 'root-missing', message: expect.stringContaining(path) }],
      })
      expect(created, name).toBeLessThan(FILES)
    }
    expect(exitCode).toBe(3)
    assertOnlyOwn(service, home)
    restore()
    expect(await home.run(['sync'])).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('halted') })
    assertAllSent(service, names)
    assertOnlyOwn(service, home)
  })

  test('a daemon halts each mirror whose root is swapped, and continues by itself [P12]', PATIENT, async () => {
    const { service, home, names, restore } = await openSwapped()
    const daemon = await startDaemon(home)
    await daemon.until('all are halted', ({ mirrors }) => mirrors.every(({ state }) => state === 'halted'))
    const sent = names.map((name) => titlesOf(service, name).length)
    // Later tries find another directory at rest.
    await daemon.until('others are refused', ({ mirrors }) =>
      mirrors.some(({ reason }) => reason?.code === 'root-mismatch'),
    )
    assertOnlyOwn(service, home)
    for (const count of sent) expect(count).toBeLessThan(FILES)
    restore()
    await daemon.until('all continue', ({ mirrors }) =>
      mirrors.every(({ state, lastSuccessAt }) => state !== 'halted' && lastSuccessAt !== null),
    )
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 })
    assertAllSent(service, names)
    assertOnlyOwn(service, home)
  })
})
