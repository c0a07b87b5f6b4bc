import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { openRoot } from '../../../src/local/read/open-and-recheck-root.ts'
import { emptySummary } from '../../../src/rules/sync-summary.ts'
import { MirrorWatch } from '../../../src/sync/continuous/mirror-watch.ts'
import { type Rescan, rescanHints } from '../../../src/sync/continuous/rescan-hints.ts'
import { CAREFUL_PASS } from '../../../src/sync/pass.ts'
import { openMirror } from '../../../src/sync/pin/open-mirror.ts'
import { walkOptions } from '../../../src/sync/scan/scan-mirror.ts'
import { mirrorOf, openTestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { type ManualWatch, manualWatch } from '../../support/mirror-controller.ts'
import { needs } from '../../support/needs.ts'
import { type Tree, temporaryDirectory, writeTree } from '../../support/temporary.ts'

const PASS = { waitMs: 0, ...CAREFUL_PASS }

interface RescanResult extends AsyncDisposable {
  readonly root: string
  readonly hand: ManualWatch
  readonly settling: () => number
  look(...paths: string[]): ReturnType<typeof rescanHints>
  /** Files by directory, as the store knows them. */
  known(directory: string): string[]
}

/** A mirror that was scanned once and whose directories are all watched. */
async function scannedMirror(tree: Tree, settleMs = 0): Promise<RescanResult> {
  const service = await startFaultyService({ library: 'Test' })
  const { engine, sync } = openTestEngine(service)
  const root = writeTree(join(temporaryDirectory(), 'Papers'), tree)
  const settings = mirrorOf(root)
  await sync([settings])
  const mirror = await openMirror(engine, settings, openRoot(nodeFileSystem, root), { runId: 0, options: PASS })
  const hand = manualWatch()
  const hooks = { onHint() {}, onScanNeeded() {} }
  const watch = await MirrorWatch.open(engine, { root, settleMs, method: hand.means, name: 'Papers' }, hooks)
  watch.add(engine.store.directories.list(mirror.row.id).map(({ path }) => path))
  const rescanner = engine.openRescanner(walkOptions(engine, mirror, { hashEverything: false, isNew: false, settleMs }))
  const library = { id: null, name: 'Test' }
  const summary = emptySummary({ name: 'Papers', path: root, remotePath: '/Papers', library })
  const task: Rescan = { engine, mirror, watch, rescanner, summary }
  return {
    root,
    hand,
    settling: () => watch.settler.size,
    look: (...paths) => rescanHints(task, paths),
    known: (directory) => engine.store.files.listForCompare(mirror.row.id, directory).map(([name]) => name),
    [Symbol.asyncDispose]: async () => {
      await rescanner[Symbol.asyncDispose]()
      mirror.root[Symbol.dispose]()
    },
  }
}

describe('hints', () => {
  test('hints at new and changed files record them', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a', 'd/b.md': 'b' })
    writeTree(mirror.root, { 'a.md': 'changed', 'd/new.md': 'new' })
    const { needsScan, hasDifferences, problems } = await mirror.look('a.md', 'd/new.md', 'd/b.md')
    expect({ needsScan, hasDifferences, problems }).toEqual({ needsScan: false, hasDifferences: true, problems: [] })
    expect(mirror.known('d')).toEqual(['b.md', 'new.md'])
  })

  test('hints at unknown paths cause no scan', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a' })
    expect(await mirror.look('gone.md', 'never/was/there.md')).toEqual({
      ...{ needsScan: false, hasDifferences: false, problems: [] },
    })
  })

  test('hints at missing paths cause a scan', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a', 'd/e/b.md': 'b' })
    rmSync(join(mirror.root, 'a.md'))
    expect(await mirror.look('a.md')).toMatchObject({ needsScan: true, hasDifferences: false })
    renameSync(join(mirror.root, 'd'), join(mirror.root, '..', 'elsewhere'))
    expect(await mirror.look('d')).toMatchObject({ needsScan: true })
    expect(await mirror.look('d/e/b.md')).toMatchObject({ needsScan: true })
    expect([mirror.known(''), mirror.known('d/e')]).toEqual([['a.md'], ['b.md']])
  })

  test('hints at paths of another kind cause a scan', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a', 'b.md': 'b', 'd/e.md': 'e', 'f/g.md': 'g' })
    for (const name of ['a.md', 'b.md', 'd', 'f']) rmSync(join(mirror.root, name), { recursive: true })
    writeTree(mirror.root, { 'a.md/inside.md': 'inside', d: 'now a file' })
    symlinkSync('d', join(mirror.root, 'b.md'))
    symlinkSync('..', join(mirror.root, 'f'))
    for (const path of ['a.md', 'b.md', 'd', 'f']) {
      expect(await mirror.look(path), path).toMatchObject({ needsScan: true })
    }
  })

  test('hints at newly ignored paths cause a scan', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a', 'd/b.md': 'b', 'e.md': 'e' })
    writeTree(mirror.root, { '.shelfdignore': 'a.md\nd/\nnew.md\n', 'new.md': 'new' })
    expect(await mirror.look('a.md')).toMatchObject({ needsScan: true })
    expect(await mirror.look('d')).toMatchObject({ needsScan: true })
    expect(await mirror.look('new.md', 'e.md')).toMatchObject({ needsScan: false })
  })

  test('a hint at a file in new directories finds all their files', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a' })
    writeTree(mirror.root, { 'x/y/z/deep.md': 'deep', 'x/flat.md': 'flat' })
    expect(await mirror.look('x/y/z/deep.md')).toMatchObject({ needsScan: false, hasDifferences: true })
    expect([mirror.known('x'), mirror.known('x/y/z')]).toEqual([['flat.md'], ['deep.md']])
    expect([...mirror.hand.watched].sort()).toEqual(['', 'x', 'x/y', 'x/y/z'])
  })

  test('new directories are read again once they are watched', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a' })
    mkdirSync(join(mirror.root, 'x/y'), { recursive: true })
    const { watched } = mirror.hand
    const add = watched.add.bind(watched)
    watched.add = (path) => {
      if (path === 'x/y') writeFileSync(join(mirror.root, 'x/y/late.md'), 'late')
      return add(path)
    }
    await mirror.look('x')
    expect(mirror.known('x/y')).toEqual(['late.md'])
  })

  test('directories that nest without end are left to a scan', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a' })
    mkdirSync(join(mirror.root, 'n'))
    const { watched } = mirror.hand
    const add = watched.add.bind(watched)
    watched.add = (path) => {
      if (path !== '') mkdirSync(join(mirror.root, path, 'n'), { recursive: true })
      return add(path)
    }
    expect(await mirror.look('n')).toMatchObject({ needsScan: true })
  })

  test('files in new directories wait until they have settled', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a' }, 60_000)
    writeTree(mirror.root, { 'x/fresh.md': 'fresh' })
    await mirror.look('x')
    expect([mirror.known('x'), mirror.settling()]).toEqual([[], 1])
  })

  test('files that change while they are read wait once more', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a' })
    writeTree(mirror.root, { 'b.md': 'b', 'c.md': 'half of', 'x/d.md': 'half of', 'x/e.md': 'e' })
    mirror.hand.events.onHint('c.md')
    mirror.hand.events.onHint('x/d.md')
    await mirror.look('b.md', 'c.md', 'x')
    expect([mirror.known(''), mirror.known('x')]).toEqual([['a.md', 'b.md'], ['e.md']])
    expect(mirror.settling()).toBe(2)
  })

  test('hints at ignored paths and links record nothing', async () => {
    await using mirror = await scannedMirror({ 'a.md': 'a', '.shelfdignore': 'secret*\n' })
    writeTree(mirror.root, { 'secret.md': 's', 'secrets/b.md': 'b' })
    symlinkSync('a.md', join(mirror.root, 'link.md'))
    expect(await mirror.look('secret.md', 'secrets/b.md', 'link.md')).toMatchObject({ hasDifferences: false })
    expect(mirror.hand.watched).not.toContain('secrets')
  })

  test('a hint at an unreadable file is a problem', async () => {
    needs('no-root')
    await using mirror = await scannedMirror({ 'a.md': 'a' })
    writeTree(mirror.root, { 'locked.md': 'locked' })
    chmodSync(join(mirror.root, 'locked.md'), 0o000)
    const { problems } = await mirror.look('locked.md')
    expect(problems).toEqual([expect.objectContaining({ path: 'locked.md', code: 'unreadable' })])
  })
})
