import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ServiceClient } from '../../../contract/service-client.ts'
import { serveLibrary } from '../../soak/soak.ts'
import type { Bench } from '../bench.ts'
import { besideXapian, XAPIAN } from '../beside-xapian.ts'
import type { ChildMeasure } from '../children/bench-engine.ts'
import { COMMON_WORDS, writeTexts } from '../library-texts.ts'
import { useRows } from '../library-use-rows.ts'
import { type Compared, compareInPairs, median } from '../pairs.ts'
import {
  comparisonCells,
  missingPeer,
  type ResultRow,
  resultRow,
  showMegabytes,
  showRatio,
  showSeconds,
  verdict,
  verdictOnRatios,
} from '../result-table.ts'
import { runChild, runProcess } from '../run-process.ts'
import { homeEnvironment } from '../run-shelfd.ts'
import { listContents } from '../trees.ts'
import type { Workspace } from '../workspace.ts'

const BARE = new URL('../children/bare-fts5.ts', import.meta.url)
const MAX_FILES = 4_000
const MANY_FILES = 20_000
const MIN_RATE = 1_200
const MAX_ROOM = 1.3

/** A first sync into the embedded library, the room it takes, and its answers; beside a bare table of SQLite's FTS5 and Xapian. */
export async function library(bench: Bench): Promise<ResultRow[]> {
  const { workspace, options } = bench
  const tree = workspace.fresh('texts')
  const { files, bytes } = writeTexts(tree, listContents(bench.tree), MAX_FILES)
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
  rows.push(...(await documentRows(bench)), await ingestionRow(bench, tree))
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

function syncRow(files: number, peer: string, compared: Compared): ResultRow {
  const [ours, theirs] = [compared.oursSeconds, compared.theirsSeconds].map((seconds) => Math.round(files / seconds))
  return resultRow({
    work: `${SYNC} of ${files} files of 1 KB`,
    ours: `${ours} files/s`,
    peer,
    theirs: `${theirs} files/s`,
    ...comparisonCells(compared),
    target: `≥ ${MIN_RATE} files/s`,
    verdict: verdict((ours ?? 0) >= MIN_RATE),
  })
}

/** Many short texts, and trees as people have them, beside Xapian. */
async function documentRows({ tree, workspace, options, program }: Bench): Promise<ResultRow[]> {
  const rows: ResultRow[] = []
  const many = workspace.fresh('many')
  const { files } = writeTexts(many, listContents(tree), MANY_FILES)
  for (const { name, paths: given, maxRatio } of [
    { name: `${files} texts of 1 KB`, paths: [many], maxRatio: 0.55 },
    { name: 'the documentation of Linux', paths: [join(tree, 'Documentation')], maxRatio: 0.85 },
    { name: '/usr/share/doc and /usr/share/man, unpacked', paths: ['/usr/share/doc', '/usr/share/man'], maxRatio: 0.9 },
  ]) {
    const work = `${SYNC} of ${name}`
    const missing = given.find((path) => !existsSync(path))
    const paths = missing === undefined ? given.map((path) => unpacked(path, workspace)) : []
    const xapian = besideXapian(workspace, paths)
    if (missing !== undefined) rows.push(resultRow({ work, ours: `no ${missing}` }))
    else if (!xapian) rows.push(missingPeer(work, XAPIAN))
    else {
      const sync = () => {
        const command = [process.execPath, program, 'sync', ...paths, '-q']
        return runProcess(command, { env: homeEnvironment(workspace.fresh('home')), mayFail: true })
      }
      const compared = await compareInPairs(options.runs, sync, xapian.index)
      const [ours, theirs] = [showSeconds(compared.oursSeconds), showSeconds(compared.theirsSeconds)]
      const target = {
        target: `≤ ${maxRatio} ×`,
        verdict: verdictOnRatios(compared.timeRatios, (it) => it <= maxRatio),
      }
      rows.push(resultRow({ work, ours, peer: XAPIAN, theirs, ...comparisonCells(compared), ...target }))
    }
  }
  return rows
}

/** A copy without compression, since Xapian passes compressed files over; pages of the manual become texts for both. */
function unpacked(tree: string, workspace: Workspace): string {
  const copy = join(workspace.fresh('unpacked'), basename(tree))
  for (const { parentPath, name } of globSync('**', { cwd: tree, withFileTypes: true }).filter((it) => it.isFile())) {
    const file = join(parentPath, name)
    const plain = name.replace(/\.gz$/, '').replace(/\.[1-9]\w*$/, '$&.txt')
    const target = join(copy, relative(tree, parentPath), plain)
    mkdirSync(dirname(target), { recursive: true })
    if (name.endsWith('.gz')) writeFileSync(target, gunzipSync(readFileSync(file)))
    else copyFileSync(file, target)
  }
  return copy
}

function roomRow(files: number, bytes: number, ours: number, peer: string, theirs: number): ResultRow {
  return resultRow({
    work: `database of ${files} texts of 1 KB, beside their ${showMegabytes(bytes)}`,
    ours: showRatio(ours / bytes),
    peer,
    theirs: showRatio(theirs / bytes),
    ratio: showRatio(ours / theirs),
    target: `≤ ${MAX_ROOM} ×`,
    verdict: verdict(ours / bytes <= MAX_ROOM),
  })
}

const POST = new URL('../children/post-files.ts', import.meta.url)
const CONNECTIONS = 16
const MIN_INGESTION_RATE = 1_000

/** `shelfd serve` in a process of its own takes the small texts of a tree from the bare undici loop; each must be searchable when it is answered. */
async function ingestionRow({ workspace, program, options }: Bench, tree: string): Promise<ResultRow> {
  const listFile = workspace.fresh('texts')
  writeFileSync(listFile, JSON.stringify(listContents(tree)))
  const rates: number[] = []
  for (let run = 0; run < options.runs; run += 1) {
    await using library = await serveLibrary(program, workspace.fresh('served'))
    const token = readFileSync(library.tokenFile, 'utf8').trim()
    const client = new ServiceClient({ url: library.url, token, settled: async () => {} })
    const libraryId = await client.createLibrary()
    const posting = { serviceUrl: library.url, token, libraryId, connections: CONNECTIONS, listFile }
    const { seconds, files } = await runChild(POST, { ...posting, status: 'completed' })
    rates.push(files / seconds)
  }
  const rate = median(rates)
  return resultRow({
    work: `ingestion of files of 1 KB, posted by the bare undici loop over ${CONNECTIONS} connections`,
    ours: `${Math.round(rate)} files/s`,
    target: `≥ ${MIN_INGESTION_RATE} files/s`,
    verdict: verdict(rate >= MIN_INGESTION_RATE),
  })
}
