import { mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { ChildMeasure } from '../children/bench-engine.ts'
import { COMMON_WORDS, writeTexts } from '../library-texts.ts'
import { useRows } from '../library-use-rows.ts'
import { compareInPairs } from '../pairs.ts'
import { comparisonCells, type ResultRow, resultRow, showMegabytes, showRatio, verdict } from '../result-table.ts'
import { runChild } from '../run-child.ts'
import { runProcess } from '../run-process.ts'
import { homeEnvironment } from '../run-shelfd.ts'
import { listContents } from '../trees.ts'

const BARE = new URL('../children/bare-fts5.ts', import.meta.url)
const MOST_FILES = 4_000
const LEAST_RATE = 1_200
const MOST_ROOM = 1.3

/** A first sync into the embedded library, the room it takes, and its answers; beside a bare table of SQLite's FTS5. */
export async function library(bench: Bench): Promise<ResultRow[]> {
  const tree = bench.workspace.fresh('texts')
  const { files, bytes } = writeTexts(tree, listContents(bench.tree), MOST_FILES)
  let home = ''
  let databaseFile = ''
  const compared = await compareInPairs(
    bench.options.runs,
    async () => {
      home = bench.workspace.fresh('home')
      return await runProcess([process.execPath, bench.program, 'sync', tree, '-q'], { env: homeEnvironment(home) })
    },
    async () => {
      databaseFile = join(bench.workspace.fresh('bare'), 'bare.sqlite')
      mkdirSync(join(databaseFile, '..'), { recursive: true })
      return await runChild<ChildMeasure>(BARE, { tree, databaseFile })
    },
  )
  const dataDir = join(home, 'data', 'shelfd', 'library')
  const [ourBytes, theirBytes] = [join(dataDir, 'library.sqlite'), databaseFile].map((file) => statSync(file).size)
  const name = basename(tree)
  const input = { dataDir, words: COMMON_WORDS, library: name, directory: `/${name}/d0`, deletes: name }
  return [
    syncRow(files, compared),
    roomRow(files, bytes, ourBytes ?? 0, theirBytes ?? 0),
    ...(await useRows(input, files, files)),
  ]
}

function syncRow(files: number, compared: Awaited<ReturnType<typeof compareInPairs>>): ResultRow {
  const [ours, theirs] = [compared.oursSeconds, compared.theirsSeconds].map((seconds) => Math.round(files / seconds))
  return resultRow({
    work: `first sync of ${files} files of 1 KB into the embedded library`,
    ours: `${ours} files/s`,
    peer: 'bare FTS5',
    theirs: `${theirs} files/s`,
    ...comparisonCells(compared),
    target: `≥ ${LEAST_RATE} files/s`,
    verdict: verdict((ours ?? 0) >= LEAST_RATE),
  })
}

function roomRow(files: number, bytes: number, ours: number, theirs: number): ResultRow {
  return resultRow({
    work: `database of ${files} texts of 1 KB, beside their ${showMegabytes(bytes)}`,
    ours: showRatio(ours / bytes),
    peer: 'bare FTS5',
    theirs: showRatio(theirs / bytes),
    ratio: showRatio(ours / theirs),
    target: `≤ ${MOST_ROOM} ×`,
    verdict: verdict(ours / bytes <= MOST_ROOM),
  })
}
