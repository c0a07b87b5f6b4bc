import { mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Bench } from '../bench.ts'
import { besideXapian, XAPIAN } from '../beside-xapian.ts'
import type { ChildMeasure } from '../children/bench-engine.ts'
import { ingestionRow } from '../ingestion-row.ts'
import { COMMON_WORDS, writeTexts } from '../library-texts.ts'
import { useRows } from '../library-use-rows.ts'
import { compareInPairs } from '../pairs.ts'
import {
  comparisonCells,
  missingPeer,
  type ResultRow,
  resultRow,
  showMegabytes,
  showRatio,
  verdict,
} from '../result-table.ts'
import { runChild } from '../run-child.ts'
import { runProcess } from '../run-process.ts'
import { homeEnvironment } from '../run-shelfd.ts'
import { listContents } from '../trees.ts'

const BARE = new URL('../children/bare-fts5.ts', import.meta.url)
const MOST_FILES = 4_000
const LEAST_RATE = 1_200
const MOST_ROOM = 1.3

/** A first sync into the embedded library, the room it takes, and its answers; beside a bare table of SQLite's FTS5 and Xapian. */
export async function library(bench: Bench): Promise<ResultRow[]> {
  const { workspace, options } = bench
  const tree = workspace.fresh('texts')
  const { files, bytes } = writeTexts(tree, listContents(bench.tree), MOST_FILES)
  let home = ''
  const sync = async () => {
    home = workspace.fresh('home')
    return await runProcess([process.execPath, bench.program, 'sync', tree, '-q'], { env: homeEnvironment(home) })
  }
  let databaseFile = ''
  const bare = async () => {
    databaseFile = join(workspace.fresh('bare'), 'bare.sqlite')
    mkdirSync(join(databaseFile, '..'), { recursive: true })
    return await runChild<ChildMeasure>(BARE, { tree, databaseFile })
  }
  const besideBare = await compareInPairs(options.runs, sync, bare)
  const xapian = besideXapian(workspace, [tree])
  const rows = [
    syncRow(files, 'bare FTS5', besideBare),
    xapian ? syncRow(files, XAPIAN, await compareInPairs(options.runs, sync, xapian.index)) : missingPeer(SYNC, XAPIAN),
  ]
  rows.push(await ingestionRow(bench, tree))
  const dataDir = join(home, 'data', 'shelfd', 'library')
  const [ourBytes = 0, theirBytes = 0] = [join(dataDir, 'library.sqlite'), databaseFile].map(sizeOf)
  rows.push(roomRow(files, bytes, ourBytes, 'bare FTS5', theirBytes))
  if (xapian) rows.push(roomRow(files, bytes, ourBytes, XAPIAN, xapian.bytes()))
  const name = basename(tree)
  const input = { dataDir, words: COMMON_WORDS, library: name, directory: `/${name}/d0`, deletes: name }
  return [...rows, ...(await useRows({ input, files, deletedFiles: files, xapian }))]
}

const SYNC = 'first sync into the embedded library'
const sizeOf = (file: string) => statSync(file).size

function syncRow(files: number, peer: string, compared: Awaited<ReturnType<typeof compareInPairs>>): ResultRow {
  const [ours, theirs] = [compared.oursSeconds, compared.theirsSeconds].map((seconds) => Math.round(files / seconds))
  return resultRow({
    work: `${SYNC} of ${files} files of 1 KB`,
    ours: `${ours} files/s`,
    peer,
    theirs: `${theirs} files/s`,
    ...comparisonCells(compared),
    target: `≥ ${LEAST_RATE} files/s`,
    verdict: verdict((ours ?? 0) >= LEAST_RATE),
  })
}

function roomRow(files: number, bytes: number, ours: number, peer: string, theirs: number): ResultRow {
  return resultRow({
    work: `database of ${files} texts of 1 KB, beside their ${showMegabytes(bytes)}`,
    ours: showRatio(ours / bytes),
    peer,
    theirs: showRatio(theirs / bytes),
    ratio: showRatio(ours / theirs),
    target: `≤ ${MOST_ROOM} ×`,
    verdict: verdict(ours / bytes <= MOST_ROOM),
  })
}
