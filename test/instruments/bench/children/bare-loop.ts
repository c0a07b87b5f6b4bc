/**
 * What is left of a pass without any promise: two threads list a tree and, by the second argument, `lstat` every file or hash it.
 * Nothing is compared, guarded, ignored or recorded. Prints the number of files.
 */
import { createHash, hash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

interface Work {
  readonly perFile: 'lstat' | 'hash'
  /** Directories to walk with all below them, and those of which only the files are left. */
  readonly trees: readonly string[]
  readonly tops: readonly string[]
  /** The next directory to take, and the files that were found. */
  readonly shared: Int32Array
}

const NEXT = 0
const FILES = 1
const SCRATCH = new Uint8Array(2 ** 20)
const BIGINT = { bigint: true } as const
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

function divide(root: string, perFile: Work['perFile']): Work {
  const below = (path: string) => {
    const directories = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    return directories.map(({ name }) => `${path}/${name}`)
  }
  const top = below(root)
  const shared = new Int32Array(new SharedArrayBuffer(8))
  return { perFile, trees: top.flatMap(below), tops: [root, ...top], shared }
}

function run({ perFile, trees, tops, shared }: Work): void {
  const visit = perFile === 'lstat' ? (path: string) => lstatSync(path, BIGINT) : hashFile
  let files = 0
  const walk = (directory: string, isDeep: boolean): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`
      if (entry.isFile()) {
        visit(path)
        files += 1
      } else if (isDeep && entry.isDirectory()) walk(path, true)
    }
  }
  const all = [...trees, ...tops]
  for (let index = Atomics.add(shared, NEXT, 1); index < all.length; index = Atomics.add(shared, NEXT, 1))
    walk(all[index] ?? '', index < trees.length)
  Atomics.add(shared, FILES, files)
}

function hashFile(path: string): Uint8Array {
  const descriptor = openSync(path, FLAGS)
  try {
    const size = Number(fstatSync(descriptor, BIGINT).size)
    const first = SCRATCH.subarray(0, readSync(descriptor, SCRATCH, 0, SCRATCH.length, 0))
    if (first.length === size) return hash('sha256', first, 'buffer')
    const running = createHash('sha256').update(first)
    for (let at = first.length; at < size; ) {
      const got = readSync(descriptor, SCRATCH, 0, SCRATCH.length, at)
      running.update(SCRATCH.subarray(0, got))
      at += got
    }
    return running.digest()
  } finally {
    closeSync(descriptor)
  }
}

if (isMainThread) {
  const [, , root = '.', perFile] = process.argv
  const work = divide(root, perFile === 'hash' ? 'hash' : 'lstat')
  new Worker(new URL(import.meta.url), { workerData: work }).on('exit', () =>
    process.stdout.write(`${Atomics.load(work.shared, FILES)}\n`),
  )
  run(work)
} else run(workerData)
