import { readFileSync, statSync } from 'node:fs'
import { systemCodeOf, UsageError } from '../../foundation/errors.ts'

export interface TextFile {
  readonly text: string
  /** Permission bits; undefined where the system has none (Windows). */
  readonly mode: number | undefined
}

/** Reads a file, or gives undefined when there is none. */
export type ReadTextFile = (file: string) => TextFile | undefined

export const readTextFile: ReadTextFile = (file) => {
  try {
    const stats = statSync(file)
    // Reading a pipe waits for somebody to write, perhaps for ever.
    if (stats.isFIFO() || stats.isSocket()) throw new UsageError('insecure-file', `Cannot use "${file}": it is no file`)
    const mode = process.platform === 'win32' ? undefined : stats.mode & 0o777
    return { text: readFileSync(file, 'utf8'), mode }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT' || systemCodeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Refuses a file with a secret that others can read. */
export function assertPrivate(file: string, { mode }: TextFile): void {
  if (mode === undefined || (mode & 0o077) === 0) return
  const why = `it holds a secret and others can read it (mode 0${mode.toString(8)}); run: chmod 600 "${file}"`
  throw new UsageError('insecure-file', `Cannot use "${file}": ${why}`)
}

/** Refuses a file that names a program to run and that others can write. */
export function assertNotWritable(file: string, { mode }: TextFile): void {
  if (mode === undefined || (mode & 0o022) === 0) return
  const why = `it names a program to run and others can write it (mode 0${mode.toString(8)}); run: chmod go-w "${file}"`
  throw new UsageError('insecure-file', `Cannot use "${file}": ${why}`)
}
