import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import { moveIntoPlace } from '../../foundation/files/replace-file.ts'

export interface PictureCacheSpec {
  /** Holds nothing but the cache; may be absent. */
  readonly directory: string
  /** Must be in the same file system as `directory`. */
  readonly temporaryDir: string
  readonly maxBytes: number
}

export type PictureCache = ReturnType<typeof openPictureCache>

/** The sizes of the files in bytes by their path in the directory, the least recently used first. */
type Sizes = Map<string, number>

/** Opens a cache of files that were made from contents. Beyond `maxBytes`, the least recently used ones are removed. */
export function openPictureCache(spec: PictureCacheSpec) {
  let opening: Promise<Sizes> | undefined
  const open = () => {
    opening ??= readSizes(spec.directory)
    return opening
  }
  const pending = new Map<string, Promise<Buffer>>()
  const readOrMake = async (path: string, make: () => Promise<Buffer>) => {
    const sizes = await open()
    const cached = sizes.has(path) ? await readIfExists(join(spec.directory, path)) : undefined
    const bytes = cached ?? (await make())
    if (!cached) await writePicture(spec, path, bytes)
    sizes.delete(path)
    sizes.set(path, bytes.length)
    await removeOldest(spec, sizes)
    return bytes
  }
  return {
    /** Returns the bytes of a file of a content; `make` makes them if the cache has none. Simultaneous calls share one `make`. */
    getOrMake: (sha256: Buffer, name: string, make: () => Promise<Buffer>): Promise<Buffer> => {
      const path = join(sha256.toString('hex'), name)
      const bytes = pending.get(path) ?? readOrMake(path, make).finally(() => pending.delete(path))
      pending.set(path, bytes)
      return bytes
    },
    /** Removes the files of a content; waits first for those that are being made. */
    remove: async (sha256: Buffer) => {
      const hex = sha256.toString('hex')
      const isOfContent = (path: string) => dirname(path) === hex
      await Promise.allSettled([...pending].flatMap(([path, one]) => (isOfContent(path) ? one : [])))
      const sizes = await open()
      for (const path of sizes.keys()) if (isOfContent(path)) sizes.delete(path)
      await rm(join(spec.directory, hex), { recursive: true, force: true })
    },
  }
}

async function readSizes(directory: string): Promise<Sizes> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(emptyIfMissing)
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(files.map(async (file) => ({ file, stats: await stat(file) })))
  found.sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs)
  return new Map(found.map(({ file, stats }) => [relative(directory, file), stats.size]))
}

async function writePicture({ directory, temporaryDir }: PictureCacheSpec, path: string, bytes: Buffer): Promise<void> {
  const file = join(directory, path)
  const unfinished = join(temporaryDir, randomUUID())
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(unfinished, bytes, { mode: 0o600 })
  await moveIntoPlace(unfinished, file, 'complete')
}

async function removeOldest({ directory, maxBytes }: PictureCacheSpec, sizes: Sizes): Promise<void> {
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  for (const [path, size] of sizes) {
    if (total <= maxBytes) return
    sizes.delete(path)
    total -= size
    await rm(join(directory, path), { force: true })
  }
}

async function readIfExists(file: string): Promise<Buffer | undefined> {
  return await readFile(file).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'ENOENT') throw error
    return undefined
  })
}

function emptyIfMissing(error: unknown): [] {
  if (systemCodeOf(error) !== 'ENOENT') throw error
  return []
}
