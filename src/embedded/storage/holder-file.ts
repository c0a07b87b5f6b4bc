import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { readOwnFile } from '../../foundation/files/own-file.ts'
import { isoTime } from '../../foundation/text/times.ts'

const MOST_BYTES = 4_096

const holderShape = z.object({
  pid: z.int(),
  /** The words that started it, such as `shelfd sync`. */
  command: z.string(),
  /** ISO 8601, UTC. */
  since: z.string(),
  /** Where it answers programs of this machine. */
  url: z.url({ protocol: /^http$/ }),
  /** The owner's token. */
  token: z.string().min(1),
  instanceId: z.string().min(1),
  /** A POST to this secret address makes it give the library to the caller; null when it keeps the library. */
  handOverUrl: z.url({ protocol: /^http$/ }).nullable(),
})

/** The process that serves a library, and how other processes of its user reach it. */
export type Holder = Readonly<z.infer<typeof holderShape>>

export type Announcement = Pick<Holder, 'command' | 'url' | 'token' | 'instanceId'> & {
  readonly handOverPath: string | null
}

/** Writes the file `holder` (0600) for the process that has the lock; disposing removes it. A power cut may lose it. */
export function announceHolder(holderFile: string, { handOverPath, ...rest }: Announcement): Disposable {
  const handOverUrl = handOverPath === null ? null : rest.url + handOverPath
  const holder: Holder = { pid: process.pid, since: isoTime(Date.now()), ...rest, handOverUrl }
  const unfinished = `${holderFile}.new`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(unfinished, holderFile)
  return { [Symbol.dispose]: () => rmSync(holderFile, { force: true }) }
}

/** Describes the holder as the file names it: `process 4711 (shelfd serve, since 2026-11-23T20:00:00.000Z)`. */
export function describeHolder({ pid, command, since }: Holder): string {
  return `process ${pid} (${command}, since ${since})`
}

/** Returns undefined when there is no such file, or one of another version. */
export function readHolder(holderFile: string): Holder | undefined {
  const text = readOwnFile(holderFile, MOST_BYTES)
  try {
    return holderShape.safeParse(JSON.parse(text ?? '')).data
  } catch {
    return undefined
  }
}
