import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { memfs } from 'memfs'
import { type FileSystem, nodeFileSystem } from '../../src/local/read/file-system.ts'
import { placeOf, type RootPlace } from '../../src/local/read/open-and-recheck-root.ts'

/** The place of a root that is not held open. */
export function rootAt(path: string, fs = nodeFileSystem): RootPlace {
  return existsSync(path) || fs !== nodeFileSystem
    ? placeOf(fs, path)
    : { realPath: path, accessPath: path, device: 1n, inode: 1n }
}

/** The real file system with some calls replaced. */
export function faulty(replaced: Partial<FileSystem>): FileSystem {
  return { ...nodeFileSystem, ...replaced }
}

/** An error as Node throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: thrown by the test`), { code })
}

/** Returns what `action` throws. */
export function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown')
}

/** memfs fits FileSystem as it runs; its types are wider than what it returns. */
export function memoryFileSystem(files: Readonly<Record<string, string>>): FileSystem {
  return memfs(files).fs as unknown as FileSystem
}

/** Without `/proc`, as on macOS and Windows. */
export const withoutProc = faulty({
  readlinkSync: () => {
    throw systemError('ENOENT')
  },
})

/** Swaps the directory `sub` for `link`, which leads outside, and back, as fast as it can. */
export async function startRacer(root: string): Promise<Worker> {
  const source = `
    const { renameSync } = require('node:fs')
    const { parentPort, workerData: root } = require('node:worker_threads')
    parentPort.postMessage('ready')
    for (;;) {
      renameSync(root + '/sub', root + '/kept')
      renameSync(root + '/link', root + '/sub')
      renameSync(root + '/sub', root + '/link')
      renameSync(root + '/kept', root + '/sub')
    }`
  const racer = new Worker(source, { eval: true, workerData: root })
  await new Promise((ready) => racer.once('message', ready))
  return racer
}
