/** Other programs see only the old or the new file, never half of one. */
import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** `complete`: a power cut may lose the new file. `durable`: it stays once the call has returned. */
export type Durability = 'complete' | 'durable'

// Windows has neither such links nor this flag.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** Replaces a small file durably, with exactly this `mode`. A link at `file` is replaced, not followed. */
export function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  writeNewFile(unfinished, content, mode)
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/** Throws where a file exists; the file has exactly this `mode` and is on the disk. */
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

/** For `durable`, flush the content first. */
export async function moveIntoPlace(finished: string, file: string, durability: Durability): Promise<void> {
  await rename(finished, file)
  if (durability === 'durable') await flushDirectory(dirname(file))
}

/** The entries survive a power cut. Windows flushes directories itself. */
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
