import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { mirrorTwice } from '../first-sync.ts'
import { median } from '../pairs.ts'
import { type ResultRow, resultRow, showRatio, showSeconds, verdict } from '../result-table.ts'
import { runProcess } from '../run-process.ts'
import { peakRow } from './memory.ts'

const FILES = 1_000_000
const FILES_OF_SMALL = 100_000
const FILES_A_DIRECTORY = 100
/** So many different contents: as many uploads, and all other files are copies. */
const CONTENTS = 4_096
/** Of ten times the files at most so much more than ten times the time. */
const MOST_GROWTH = 1.15
const MOST_BYTES = 220e6

/** A million generated files: memory stays bounded and time grows no faster than their number. */
export async function million(bench: Bench): Promise<ResultRow[]> {
  const small = await passOver(bench, FILES_OF_SMALL)
  const large = await passOver(bench, FILES)
  const growth = large.secondsPerFile / small.secondsPerFile
  return [
    ...small.rows,
    ...large.rows,
    resultRow({
      work: `unchanged pass of ${FILES} files`,
      ours: showSeconds(large.secondsPerFile * FILES),
      peer: `shelfd, ${FILES_OF_SMALL} files`,
      theirs: showSeconds(small.secondsPerFile * FILES_OF_SMALL),
      ratio: `${showRatio(growth)} a file`,
      target: `≤ ${MOST_GROWTH} × a file`,
      verdict: verdict(growth <= MOST_GROWTH),
    }),
  ]
}

async function passOver(bench: Bench, files: number) {
  const tree = bench.workspace.fresh('synthetic')
  writeSynthetic(tree, files)
  const { first, second, command, env } = await mirrorTwice({ ...bench, tree })
  const seconds: number[] = []
  for (let run = 0; run < 3; run += 1) seconds.push((await runProcess(command, { env })).seconds)
  const rows = [
    peakRow(`first sync of ${files} files`, first, MOST_BYTES),
    peakRow(`second sync of ${files} files`, second, MOST_BYTES),
  ]
  return { rows, secondsPerFile: median(seconds) / files }
}

/** Sparse files: they take an inode and no block. */
function writeSynthetic(root: string, files: number): void {
  for (let index = 0; index < files; index += 1) {
    const directory = join(
      root,
      `d${Math.floor(index / FILES_A_DIRECTORY / 100)}`,
      `e${Math.floor(index / FILES_A_DIRECTORY)}`,
    )
    if (index % FILES_A_DIRECTORY === 0) mkdirSync(directory, { recursive: true })
    const descriptor = openSync(join(directory, `file-${index}.txt`), 'w')
    ftruncateSync(descriptor, 1 + (index % CONTENTS))
    closeSync(descriptor)
  }
}
