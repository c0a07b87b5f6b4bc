import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRoot } from '../../../src/local/read/open-and-recheck-root.ts'
import { emptySummary } from '../../../src/rules/sync-summary.ts'
import { CAREFUL_PASS } from '../../../src/sync/pass.ts'
import { openMirror } from '../../../src/sync/pin/open-mirror.ts'
import { recordRescan } from '../../../src/sync/scan/record-batches.ts'
import { walkOptions } from '../../../src/sync/scan/scan-mirror.ts'
import { mirrorOf, startEngine, type TestEngine } from '../../support/engine.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'

const OPTIONS = { waitMs: 0, ...CAREFUL_PASS }

/** Reads a directory that appeared between scans, as the daemon does after a hint. */
async function examineTree({ engine }: TestEngine, directory: string, path: string): Promise<void> {
  const settings = mirrorOf(directory)
  using root = openRoot(engine.fs, settings.path)
  const mirror = await openMirror(engine, settings, root, { runId: 0, options: OPTIONS })
  const options = { hashEverything: false, isNew: false, settleMs: null }
  await using rescanner = engine.openRescanner(walkOptions(engine, mirror, options))
  const { name, remotePath } = settings
  const summary = emptySummary({ name, path: directory, remotePath, library: { id: '', name: '' } })
  for await (const batch of rescanner.rescan({ kind: 'trees', paths: [path], root: root.place }, engine.signal)) {
    recordRescan(engine, mirror, batch, summary)
  }
}

test('files renamed between scans are not lost [P13]', async () => {
  const { service, tested } = await startEngine()
  const directory = writeTree(temporaryDirectory(), { 'first/': '', ...manyFilesBelow('first') })
  expect((await tested.sync([mirrorOf(directory)])).outcome).toBe('done')
  for (const [from, to] of [
    ['first', 'second'],
    ['second', 'third'],
    ['third', 'fourth'],
  ] as const) {
    renameSync(join(directory, from), join(directory, to))
    await examineTree(tested, directory, to)
  }
  const { outcome, failure } = await tested.sync([mirrorOf(directory)])
  expect({ outcome, failure }).toEqual({ outcome: 'done', failure: undefined })
  expect(service.count('uploadFile')).toBe(60)
})

test('files missing after renames halt the mirror [P12]', async () => {
  const { tested } = await startEngine()
  const directory = writeTree(temporaryDirectory(), { 'rest.md': 'rest', ...manyFilesBelow('first') })
  expect((await tested.sync([mirrorOf(directory)])).outcome).toBe('done')
  renameSync(join(directory, 'first'), join(directory, 'second'))
  await examineTree(tested, directory, 'second')
  rmSync(join(directory, 'second'), { recursive: true })
  expect((await tested.sync([mirrorOf(directory)])).failure).toMatchObject({ code: 'root-emptied' })
})

function manyFilesBelow(directory: string) {
  return Object.fromEntries(
    Object.entries(manyFiles(60, 60)).map(([path, content]) => [`${directory}/${path}`, content]),
  )
}
