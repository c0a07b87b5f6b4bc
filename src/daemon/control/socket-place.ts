import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, systemCodeOf } from '../../foundation/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `sun_path` has 104 bytes on some systems, the last of them zero. */
const MAX_PATH_BYTES = 103
const NAME_DIGITS = 12

/** `passedOver`: the reasons against better places. */
export interface SocketPlace {
  readonly path: string
  readonly passedOver: readonly string[]
}

interface Candidate {
  readonly directory: string
  /** The daemon creates it and closes it to other users. */
  readonly isOwn: boolean
}

/**
 * The first usable of: the runtime directory of the service manager, that of the user, the state directory, a temporary directory. Throws
 * when none is.
 */
export function prepareSocketPlace(stateDir: string, env: Environment): SocketPlace {
  const name = createHash('sha256').update(realpathSync(stateDir)).digest('hex').slice(0, NAME_DIGITS)
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\shelfd-${name}`, passedOver: [] }
  const passedOver: string[] = []
  for (const candidate of listCandidates(stateDir, env)) {
    const path = join(candidate.directory, `${name}.sock`)
    const trouble = prepare(candidate, path)
    if (trouble === undefined) return { path, passedOver }
    passedOver.push(`${candidate.directory}: ${trouble}`)
  }
  throw new Error(`Cannot create the control socket: no directory can hold it (${passedOver.join('; ')})`)
}

/** Throws when `path` is no socket of mode 0600 afterwards. */
export function closeToOthers(path: string): void {
  if (process.platform === 'win32') return
  chmodSync(path, 0o600)
  const found = lstatSync(path)
  if (!found.isSocket() || (found.mode & 0o777) !== 0o600) throw new Error(`"${path}" is no socket of mode 0600`)
}

function listCandidates(stateDir: string, env: Environment): Candidate[] {
  // A unit may have several runtime directories, separated by colons.
  const ofService = env.RUNTIME_DIRECTORY?.split(':')[0]
  const ofUser = env.XDG_RUNTIME_DIR
  return [
    ...(ofService ? [{ directory: ofService, isOwn: true }] : []),
    ...(ofUser ? [{ directory: join(ofUser, 'shelfd'), isOwn: true }] : []),
    { directory: realpathSync(stateDir), isOwn: false },
    { directory: join(tmpdir(), `shelfd-${process.getuid?.()}`), isOwn: true },
  ]
}

/** Removes the socket of a killed daemon; returns why the place is unusable. */
function prepare({ directory, isOwn }: Candidate, path: string): string | undefined {
  const sizeBytes = Buffer.byteLength(path)
  if (sizeBytes > MAX_PATH_BYTES) return `a path of ${sizeBytes} bytes is too long for a socket`
  try {
    if (isOwn) makePrivate(directory)
    rmSync(path, { force: true })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Throws if another user's directory or a link has that name. */
function makePrivate(directory: string): void {
  makeDirectory(directory)
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error('it belongs to someone else')
  if ((found.mode & 0o777) !== 0o700) chmodSync(directory, 0o700)
}

/** Creates no parent: the system does. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
  }
}
