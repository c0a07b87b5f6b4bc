import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

// Windows has neither such links nor this flag.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/**
 * Replaces a small file (0600) atomically: after a power cut the file is the old or the new one, never half of one. If a
 * link stands at `file` or at the name of the unfinished file, replaces the link and does not follow it.
 */
export function replaceFile(file: string, text: string): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  const descriptor = openSync(unfinished, NEW_FILE, 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/** Makes a rename durable; Windows cannot open directories, and keeps renames without this. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
