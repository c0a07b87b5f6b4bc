import { isUtf8 } from 'node:buffer'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import type { ChildMeasure } from '../children/bench-engine.ts'
import type { LibraryUse } from '../children/use-library.ts'
import { compareInPairs } from '../pairs.ts'
import { type ResultRow, resultRow, showMegabytes, showRatio, verdict } from '../result-table.ts'
import { runChild } from '../run-child.ts'
import { runProcess } from '../run-process.ts'
import { homeEnvironment } from '../run-shelfd.ts'
import { listContents } from '../trees.ts'

const BARE = new URL('../children/bare-fts5.ts', import.meta.url)
const USE = new URL('../children/use-library.ts', import.meta.url)
const MOST_FILES = 4_000
const FILES_A_DIRECTORY = 1_000
const FILE_BYTES = 1_024
/** Words that are common in most trees of texts and programs. */
const WORDS = ['the', 'file', 'error', 'function', 'license', 'return value', 'read file error', 'copyright notice']
const LEAST_RATE = 1_200
const MOST_ROOM = 1.3
const MOST_MS = 20

/** A first sync into the embedded library, the room it takes, and its answers; beside a bare table of SQLite's FTS5. */
export async function library(bench: Bench): Promise<ResultRow[]> {
  const tree = bench.workspace.fresh('texts')
  const { files, bytes } = writeTexts(tree, listContents(bench.tree))
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
  const used = await runProcess([
    process.execPath,
    fileURLToPath(USE),
    JSON.stringify({ dataDir, words: WORDS, directory: `/${basename(tree)}/d0` }),
  ])
  return [
    syncRow(files, compared),
    roomRow(files, bytes, ourBytes ?? 0, theirBytes ?? 0),
    ...useRows(files, JSON.parse(used.stdout)),
  ]
}

/** Cuts texts of the tree into made-up files of 1 KB, each different. */
function writeTexts(tree: string, paths: readonly string[]): { files: number; bytes: number } {
  let [files, bytes] = [0, 0]
  for (const path of paths) {
    const text = readFileSync(path)
    if (!isUtf8(text) || text.includes(0)) continue
    for (let at = 0; at + FILE_BYTES <= text.length && files < MOST_FILES; at += FILE_BYTES) {
      const directory = join(tree, `d${Math.floor(files / FILES_A_DIRECTORY)}`)
      if (files % FILES_A_DIRECTORY === 0) mkdirSync(directory, { recursive: true })
      const content = `${files}\n${text.toString('utf8', at, at + FILE_BYTES)}`
      writeFileSync(join(directory, `text-${files}.txt`), content)
      files += 1
      bytes += Buffer.byteLength(content)
    }
  }
  return { files, bytes }
}

function syncRow(files: number, compared: Awaited<ReturnType<typeof compareInPairs>>): ResultRow {
  const [ours, theirs] = [compared.oursSeconds, compared.theirsSeconds].map((seconds) => Math.round(files / seconds))
  return resultRow({
    work: `first sync of ${files} files of 1 KB into the embedded library`,
    ours: `${ours} files/s`,
    peer: 'bare FTS5',
    theirs: `${theirs} files/s`,
    ratio: showRatio(compared.timeRatio),
    cpu: showRatio(compared.cpuRatio),
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

function useRows(files: number, use: LibraryUse): ResultRow[] {
  const row = (work: string, ms: number) =>
    resultRow({ work, ours: `${ms.toFixed(1)} ms`, target: `≤ ${MOST_MS} ms`, verdict: verdict(ms <= MOST_MS) })
  return [
    row(`search for common words in ${files} files`, use.searchMs),
    row('a page of 500 of a listing', use.listMs),
    resultRow({ work: 'start of the embedded library', ours: `${use.startMs.toFixed(0)} ms`, target: '< 1 s' }),
    resultRow({
      work: `deleting the library of ${files} files, other requests meanwhile`,
      ours: `${use.deleteMs.toFixed(0)} ms, at most ${use.listMsWhileDeleting.toFixed(0)} ms; ${showMegabytes(use.bytesAfterwards)} left`,
    }),
  ]
}
