import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { parseJson } from '../text/parse-json.ts'
import { formatTime, isoTime } from '../text/times.ts'
import { readOwnFile } from './own-file.ts'

const MAX_BYTES = 4_096

/** What the process that holds a lock writes about itself into a file beside the lock. */
export const lockHolderShape = z.object({
  pid: z.int(),
  command: z.string(),
  since: z.string(),
})

export type LockHolder = Readonly<z.infer<typeof lockHolderShape>>

/** Describes this process as the holder of a lock, from now on. */
export function thisProcess(command = describeCommand()): LockHolder {
  return { pid: process.pid, command, since: isoTime(Date.now()) }
}

export function describeCommand(): string {
  const [, , word = ''] = process.argv
  return /^[a-z-]+$/.test(word) ? `shelfd ${word}` : 'shelfd'
}

/** Returns `process 4711 (shelfd serve, since 20:04)`, in local time. */
export function describeHolder({ pid, command, since }: LockHolder): string {
  return `process ${pid} (${command}, since ${formatTime(Date.parse(since), Date.now())})`
}

/** Writes the file (0600) in one step; a power cut may lose it. */
export function writeHolder(file: string, holder: LockHolder): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(unfinished, file)
}

/** Returns undefined if there is no file, or one that another version wrote. */
export function readHolder<Shape extends z.ZodType<LockHolder>>(
  file: string,
  shape: Shape,
): z.infer<Shape> | undefined {
  return shape.safeParse(parseJson(readOwnFile(file, MAX_BYTES))).data
}
