/** Replaces files so that other programs see either the old file or the new one, never half of one. */
import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** `complete`: a power cut may lose the new file. `durable`: it stays once the call has returned. */
export type Durability = 'complete' | 'durable'

// Windows lacks the last flag, and links of this kind.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** Replaces a small file durably, with exactly this `mode`. A link at `file` is replaced, not followed. */
export function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  writeNewFile(unfinished, content, mode)
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/** Creates a file with exactly this `mode` and flushes its content. Throws if the file exists. */
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

/** Renames a finished file. For `durable`, flush its content first. */
export async function moveIntoPlace(finished: string, file: string, durability: Durability): Promise<void> {
  await rename(finished, file)
  if (durability === 'durable') await flushDirectory(dirname(file))
}

/** Makes the entries of a directory survive a power cut, which Windows does itself. */
export async function flushDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
