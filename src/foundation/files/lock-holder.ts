import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { formatTime, isoTime } from '../text/times.ts'
import { readOwnFile } from './own-file.ts'

const MOST_BYTES = 4_096

/** The process that holds a lock, as it names itself in a file beside the lock. */
export const lockHolderShape = z.object({
  pid: z.int(),
  /** The words that started it, such as `shelfd sync`. */
  command: z.string(),
  /** ISO 8601, UTC. */
  since: z.string(),
})

export type LockHolder = Readonly<z.infer<typeof lockHolderShape>>

/** Describes this process as the holder of a lock, from now on. */
export function thisProcess(command = describeCommand()): LockHolder {
  return { pid: process.pid, command, since: isoTime(Date.now()) }
}

/** Returns the words that started this process, without arguments: others show them to their users. */
export function describeCommand(): string {
  const [, , word = ''] = process.argv
  return /^[a-z-]+$/.test(word) ? `shelfd ${word}` : 'shelfd'
}

/** Describes a holder: `process 4711 (shelfd serve, since 20:04)`, in local time. */
export function describeHolder({ pid, command, since }: LockHolder): string {
  return `process ${pid} (${command}, since ${formatTime(Date.parse(since), Date.now())})`
}

/** Writes the file (0600) in one step, for the process that has the lock. A power cut may lose it. */
export function writeHolder(file: string, holder: LockHolder): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(unfinished, file)
}

/** Returns undefined when there is no such file, or one of another version. */
export function readHolder<Shape extends z.ZodType<LockHolder>>(
  file: string,
  shape: Shape,
): z.infer<Shape> | undefined {
  const text = readOwnFile(file, MOST_BYTES)
  try {
    return shape.safeParse(JSON.parse(text ?? '')).data
  } catch {
    return undefined
  }
}
