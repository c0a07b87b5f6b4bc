import { rmSync } from 'node:fs'
import { z } from 'zod'
import { lockHolderShape, readHolder, thisProcess, writeHolder } from '../../foundation/files/lock-holder.ts'

const holderShape = lockHolderShape.extend({
  /** The address at which it answers programs of this machine. */
  url: z.url({ protocol: /^http$/ }),
  /** The owner's token. */
  token: z.string().min(1),
  instanceId: z.string().min(1),
  /** A secret address; after a POST there it stops serving the library, so that the caller can. Null if it never does. */
  handOverUrl: z.url({ protocol: /^http$/ }).nullable(),
})

/** Says which process serves a library, and how other processes of the same user reach it. */
export type Holder = Readonly<z.infer<typeof holderShape>>

export type Announcement = Pick<Holder, 'command' | 'url' | 'token' | 'instanceId'> & {
  readonly handOverPath: string | null
}

/** Writes the file `holder` (0600), which says that this process serves the library; disposing of the result removes the file. */
export function announceHolder(holderFile: string, { handOverPath, command, ...rest }: Announcement): Disposable {
  const handOverUrl = handOverPath === null ? null : rest.url + handOverPath
  const holder: Holder = { ...thisProcess(command), ...rest, handOverUrl }
  writeHolder(holderFile, holder)
  return { [Symbol.dispose]: () => rmSync(holderFile, { force: true }) }
}

/** Reads the file `holder`; returns undefined if there is none, or another version of shelfd wrote it in another format. */
export function readLibraryHolder(holderFile: string): Holder | undefined {
  return readHolder(holderFile, holderShape)
}
