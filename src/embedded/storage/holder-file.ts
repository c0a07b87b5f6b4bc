import { rmSync } from 'node:fs'
import { z } from 'zod'
import { lockHolderShape, readHolder, thisProcess, writeHolder } from '../../foundation/files/lock-holder.ts'

const holderShape = lockHolderShape.extend({
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

/** Writes the file `holder` (0600) for the process that has the lock; disposing removes it. */
export function announceHolder(holderFile: string, { handOverPath, command, ...rest }: Announcement): Disposable {
  const handOverUrl = handOverPath === null ? null : rest.url + handOverPath
  const holder: Holder = { ...thisProcess(command), ...rest, handOverUrl }
  writeHolder(holderFile, holder)
  return { [Symbol.dispose]: () => rmSync(holderFile, { force: true }) }
}

/** Returns undefined when there is no such file, or one of another version. */
export function readLibraryHolder(holderFile: string): Holder | undefined {
  return readHolder(holderFile, holderShape)
}
