import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { besideXapian, XAPIAN, type XapianPeer } from '../beside-xapian.ts'
import { COMMON_WORDS, writeTexts } from '../library-texts.ts'
import { useRows } from '../library-use-rows.ts'
import { type ResultRow, resultRow, showMegabytes } from '../result-table.ts'
import { runProcess } from '../run-process.ts'
import { homeEnvironment } from '../run-shelfd.ts'
import { listContents } from '../trees.ts'

const KEPT_FILES = 80_000
const DELETED_FILES = 20_000

/** An embedded library of 100,000 files in two libraries: its answers, and those that wait while the smaller one is deleted. */
export async function largeLibrary(bench: Bench): Promise<ResultRow[]> {
  const env = homeEnvironment(bench.workspace.fresh('home'))
  const trees: string[] = []
  const fill = async (name: string, most: number): Promise<ResultRow> => {
    const tree = bench.workspace.fresh(name)
    trees.push(tree)
    const { files, bytes } = writeTexts(tree, listContents(bench.tree), most)
    const shelfd = (...args: readonly string[]) => runProcess([process.execPath, bench.program, ...args], { env })
    await shelfd('libraries', 'create', name)
    const { seconds } = await shelfd('sync', tree, '--to', `${name}:/texts`, '-q')
    return resultRow({
      work: `first sync of ${files} files (${showMegabytes(bytes)}) into a library beside others`,
      ours: `${Math.round(files / seconds)} files/s`,
    })
  }
  const filled = [await fill('Kept', KEPT_FILES), await fill('Deleted', DELETED_FILES)]
  const dataDir = join(env.HOME, 'data', 'shelfd', 'library')
  const input = { dataDir, words: COMMON_WORDS, library: 'Kept', directory: '/texts/d0', deletes: 'Deleted' }
  const xapian = besideXapian(bench.workspace, trees)
  const files = KEPT_FILES + DELETED_FILES
  const indexed = resultRow({
    work: `indexing of ${files} files into one database`,
    ...(await indexCells(xapian, files)),
  })
  return [...filled, indexed, ...(await useRows({ input, files, deletedFiles: DELETED_FILES, xapian }))]
}

async function indexCells(xapian: XapianPeer | undefined, files: number): Promise<Partial<ResultRow>> {
  if (!xapian) return { peer: XAPIAN, theirs: 'not installed' }
  const { seconds } = await xapian.index()
  return { peer: XAPIAN, theirs: `${Math.round(files / seconds)} files/s, ${showMegabytes(xapian.bytes())}` }
}
