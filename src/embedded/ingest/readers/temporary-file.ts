import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Gives a program the path of a file with these bytes, and removes the file when `use` has ended. */
export async function withTemporaryFile<Result>(
  bytes: Buffer,
  directory: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = join(directory, `document-${process.pid}`)
  await writeFile(path, bytes, { mode: 0o600 })
  try {
    return await use(path)
  } finally {
    await rm(path, { force: true })
  }
}
