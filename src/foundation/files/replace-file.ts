/** Puts files into place so that other programs see only the old or the new one, never half of one. */
import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** `complete`: a power cut may lose a file that was put into place. `durable`: the file stays once the call has returned. */
export type Durability = 'complete' | 'durable'

// Windows has neither such links nor this flag.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/**
 * Replaces a small file durably, with exactly this `mode`, which the umask does not change. If a link is at `file` or at the name of the
 * unfinished file, replaces the link and does not follow it.
 */
export function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  writeNewFile(unfinished, content, mode)
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/** Writes a file where none is, with exactly this `mode`, to the disk. */
export function writeNewFile(file: string, content: string | Uint8Array, mode: number): void {
  const descriptor = openSync(file, NEW_FILE, 0o600)
  try {
    writeFileSync(descriptor, content)
    fchmodSync(descriptor, mode)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Renames a finished file to its place in the same file system. For `durable`, flush its content first. */
export async function moveIntoPlace(finished: string, file: string, durability: Durability): Promise<void> {
  await rename(finished, file)
  if (durability === 'durable') await flushDirectory(dirname(file))
}

/** Lets the entries of a directory survive a power cut. Windows cannot open directories, and flushes them itself. */
export async function flushDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Lets the entries of a directory survive a power cut. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
