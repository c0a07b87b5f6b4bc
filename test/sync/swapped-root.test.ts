/** Roots that are swapped in the middle of a scan, with real directories and mounts, and file systems that take another's place at rest. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FileSystem, nodeFileSystem } from '../../src/local/read/file-system.ts'
import { dumpStore } from '../support/dump-store.ts'
import { accountOf, mirrorOf, startEngine } from '../support/engine.ts'
import { controllerSettings, isIdle, startController, until } from '../support/mirror-controller.ts'
import { armSwap, rootSwaps, type Swap } from '../support/root-swaps.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const FILES = 30
const own = Object.fromEntries(
  Array.from({ length: FILES }, (_, index) => [`d${index % 5}/${index}.md`, `own ${index}`]),
)
const strangers = Object.fromEntries(
  Array.from({ length: FILES }, (_, index) => [`d${index % 7}/${index}.md`, `private ${index}`]),
)

/** The real file system, in which the opening of a file is the moment of the swap, if one is armed. */
function swappingAt(name: string) {
  const moment = { swap: undefined as Swap | undefined, bringBack: () => {} }
  const fs: FileSystem = {
    ...nodeFileSystem,
    openSync: (path, flags) => {
      const { swap } = moment
      if (swap && path.endsWith(`/${name}`)) {
        moment.swap = undefined
        moment.bringBack = swap()
      }
      return nodeFileSystem.openSync(path, flags)
    },
  }
  return { fs, moment }
}

test.each(rootSwaps)('a scan records nothing of what takes the place of its root: %s [P12]', async (_, swap) => {
  const root = join(temporaryDirectory(), 'Papers')
  const swapNow = armSwap(swap, root, own, strangers)
  const { fs, moment } = swappingAt('12.md')
  const { service, tested } = await startEngine({}, { service: { hasNoDuplicateRule: true }, fs })
  const mirror = mirrorOf(root)
  expect((await tested.sync([mirror])).outcome).toBe('done')
  const before = dumpStore(tested.stateDir)
  writeTree(root, { 'd2/12.md': 'own 12, changed', 'late.md': 'own and late' })
  moment.swap = swapNow
  const halted = await tested.sync([mirror], { hashEverything: true })
  expect(halted).toMatchObject({ outcome: 'failures', failure: { code: 'root-missing' } })
  expect(accountOf(halted).files.removed).toBe(0)
  expect(dumpStore(tested.stateDir).history).toEqual(before.history)
  moment.bringBack()
  expect(await tested.sync([mirror])).toMatchObject({ outcome: 'done', failure: undefined })
  expect(service.count('uploadFile')).toBe(FILES + 2)
  for (const { path, body } of service.requests) expect(`${path} ${body}`).not.toContain('private')
})

test.each(rootSwaps)('a root that goes away beside the last uploads does not end well: %s [P12]', async (_, swap) => {
  const { service, tested } = await startEngine({}, { service: { hasNoDuplicateRule: true }, limits: { transfers: 1 } })
  const root = join(temporaryDirectory(), 'Papers')
  const few = { 'a.md': 'own a', 'b.md': 'own b', 'c.md': 'own c' }
  const moment = { swap: armSwap(swap, root, few, strangers), bringBack: () => {}, isOver: false }
  service.fault = () => {
    if (!moment.isOver && service.count('uploadFile') > 0)
      Object.assign(moment, { isOver: true, bringBack: moment.swap() })
    return undefined
  }
  const halted = await tested.sync([mirrorOf(root)])
  expect(halted).toMatchObject({ outcome: 'failures', failure: { code: 'root-missing' } })
  const { created, heldBack } = accountOf(halted).uploads
  expect(created + heldBack).toBe(3)
  moment.bringBack()
  expect(await tested.sync([mirrorOf(root)])).toMatchObject({ outcome: 'done', failure: undefined })
  expect(service.count('uploadFile')).toBe(3)
  for (const { path, body } of service.requests) expect(`${path} ${body}`).not.toContain('private')
})

test('a daemon whose root is swapped during a scan continues by itself [P12]', async () => {
  const root = join(temporaryDirectory(), 'Papers')
  const [, swap] = rootSwaps.find(([name]) => name === 'renamed') ?? []
  if (!swap) throw new Error('No swap')
  const { fs, moment } = swappingAt('12.md')
  moment.swap = armSwap(swap, root, own, strangers)
  const { service, tested } = await startEngine({}, { service: { hasNoDuplicateRule: true }, fs })
  const kept = startController(tested.engine, controllerSettings(mirrorOf(root), null))
  await until('it is halted', () => kept.controller.status.state === 'halted')
  expect(kept.controller.status.reason?.code).toBe('root-missing')
  moment.bringBack()
  kept.controller.wake()
  await until('all of it is sent', () => isIdle(kept))
  expect(service.count('uploadFile')).toBe(FILES)
  for (const { path, body } of service.requests) expect(`${path} ${body}`).not.toContain('private')
})

describe('a file system without birth times', () => {
  /** The real file system, which says that it is FAT of this size. */
  const fatOf = (state: { blocks: number }): FileSystem => ({
    ...nodeFileSystem,
    statfsSync: () => ({ type: 0x4d44, blocks: state.blocks, bsize: 512 }),
  })

  test('another stick of another size at the same place is refused [P15]', async () => {
    const state = { blocks: 1_000 }
    const { tested } = await startEngine({}, { fs: fatOf(state) })
    const root = writeTree(join(temporaryDirectory(), 'Stick'), own)
    expect((await tested.sync([mirrorOf(root)])).outcome).toBe('done')
    state.blocks = 2_000
    expect(await tested.sync([mirrorOf(root)])).toMatchObject({ failure: { code: 'root-mismatch' } })
    state.blocks = 1_000
    expect(await tested.sync([mirrorOf(root)])).toMatchObject({ outcome: 'done', failure: undefined })
  })

  test('a mirror of an older state gains the pin of its file system at the next good pass [P15]', async () => {
    const state = { blocks: 1_000 }
    const { tested } = await startEngine({}, { fs: fatOf(state) })
    const root = writeTree(join(temporaryDirectory(), 'Stick'), own)
    await tested.sync([mirrorOf(root)])
    const { store } = tested
    const row = store.mirrors.findByName('Stick')
    if (!row) throw new Error('No mirror')
    store.write(() => store.mirrors.pinRoot({ ...row, rootVolumeBytes: null }))
    expect((await tested.sync([mirrorOf(root)])).outcome).toBe('done')
    expect(store.mirrors.findByName('Stick')?.rootVolumeBytes).toBe(512_000)
  })
})
