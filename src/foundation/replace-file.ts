import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

// Windows has no links of this kind, and no such flag.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/**
 * Replaces a small file (0600) in one step: after a power cut the old or the new one stands, never half of one. A link that
 * stands at its name or at that of the unfinished file is replaced, never followed.
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

/** Makes a rename last; Windows, which keeps its directories by itself, can't open them. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
