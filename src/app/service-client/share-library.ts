/**
 * One process at a time holds the embedded library; others use its interface. When the holder ends, another process
 * takes over; a process that serves the library at an address of its own can ask the holder to hand it over.
 */
import { join } from 'node:path'
import type { EmbeddedLibrary } from '../../embedded/start-embedded.ts'
import type { LibraryThreadOptions } from '../../embedded/start-in-thread.ts'
import { type Holder, readLibraryHolder } from '../../embedded/storage/holder-file.ts'
import { systemClock } from '../../foundation/clock.ts'
import { LockedError, TemporaryError } from '../../foundation/errors.ts'
import type { Whereabouts } from '../../remote/wire/connector.ts'
import { isThere } from '../files/paths-on-disk.ts'

/** A holder may take this long to start, to end, or to hand over. */
const PATIENCE_MS = 30_000
const LOOKING_AGAIN_AFTER_MS = 50
/** A process that has handed the library over does not take it back for this time. */
const LEFT_TO_OTHERS_MS = 5_000

type LibraryAccess = Pick<Holder, 'url' | 'token' | 'instanceId'>

export interface SharedLibrary extends LibraryAccess, Whereabouts, AsyncDisposable {
  /** The other process that held the library when it was opened; undefined if this process holds it. */
  readonly holder: Holder | undefined
  /** Undefined where another process has the library. */
  readonly embedFor?: EmbeddedLibrary['embedFor'] | undefined
}

type Reached = LibraryAccess &
  AsyncDisposable & { readonly holder?: Holder } & Partial<Pick<EmbeddedLibrary, 'uploadPort' | 'embedFor'>>

/** Throws LockedError when the other process does not say how it is reached; otherwise what `start` throws. */
export async function shareLibrary(
  options: LibraryThreadOptions,
  start: (options: LibraryThreadOptions) => Promise<EmbeddedLibrary>,
  signal: AbortSignal,
): Promise<SharedLibrary> {
  const { dataDir, port } = options
  const isForOthers = port !== undefined
  const takeOver = async (holder: Holder, held: LockedError) =>
    holder.handOverUrl === null ? borrow(holder) : askForLibrary(holder, held)
  const reach = () => whenFree<Reached>(dataDir, () => start(options), isForOthers ? takeOver : borrow, signal)
  let reached: Reached = (isForOthers ? undefined : await borrowFrom(dataDir)) ?? (await reach())
  let relocating: Promise<string> | undefined
  const relocate = async () => {
    const wasOurs = reached.holder === undefined
    await reached[Symbol.asyncDispose]()
    try {
      const left = wasOurs ? await untilBorrowed(dataDir, LEFT_TO_OTHERS_MS) : undefined
      reached = left ?? (await reach())
    } catch (error) {
      // To those that wait for an answer, this is a service that is away.
      if (!(error instanceof LockedError)) throw error
      throw new TemporaryError('service-unreachable', error.message, { cause: error })
    }
    return reached.url
  }
  return {
    ...pick(reached),
    holder: reached.holder,
    get uploadPort() {
      return reached.uploadPort
    },
    get embedFor() {
      return reached.embedFor
    },
    // The lock is held and the file names the port, so the holder still listens there.
    isAt: async (url) =>
      (reached.holder ? await lookForHolder(dataDir) : readLibraryHolder(holderFileOf(dataDir)))?.url === url,
    relocate: () => {
      relocating ??= relocate().finally(() => {
        relocating = undefined
      })
      return relocating
    },
    [Symbol.asyncDispose]: async () => {
      await relocating?.catch(() => {})
      await reached[Symbol.asyncDispose]()
    },
  }
}

/** Starts the library in this process, and asks a command that holds it to hand it over. Throws LockedError. */
export async function serveAlone(
  dataDir: string,
  start: () => Promise<EmbeddedLibrary>,
  signal: AbortSignal,
): Promise<EmbeddedLibrary> {
  return whenFree(dataDir, start, askForLibrary, signal)
}

/** Throws `held` when the holder keeps the library. */
async function askForLibrary({ handOverUrl }: Holder, held: LockedError): Promise<undefined> {
  if (handOverUrl === null) throw held
  await fetch(handOverUrl, { method: 'POST', signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => {})
}

/** Tries `start` while no process holds the library. Throws LockedError. */
async function whenFree<T>(
  dataDir: string,
  start: () => Promise<T>,
  whileHeld: (holder: Holder, held: LockedError) => Promise<T | undefined> | T | undefined,
  signal: AbortSignal,
): Promise<T> {
  const untilMs = systemClock.monotonicMs() + PATIENCE_MS
  for (let held: LockedError | undefined; ; ) {
    // A vain start costs a thread, and many processes may wait for the library.
    if (!held || !(await isLibraryHeld(dataDir))) {
      try {
        return await start()
      } catch (error) {
        if (!(error instanceof LockedError)) throw error
        held = error
      }
    }
    const holder = await lookForHolder(dataDir)
    const found = holder && (await whileHeld(holder, held))
    if (found !== undefined) return found
    if (systemClock.monotonicMs() > untilMs) throw held
    // Not all at the same moment.
    await systemClock.sleep(LOOKING_AGAIN_AFTER_MS * (1 + Math.random()), signal)
  }
}

async function isLibraryHeld(dataDir: string): Promise<boolean> {
  const { isHeld } = await import('../../embedded/storage/data-directory.ts')
  return isHeld(dataDir)
}

async function untilBorrowed(dataDir: string, limitMs: number): Promise<Reached | undefined> {
  const untilMs = systemClock.monotonicMs() + limitMs
  while (systemClock.monotonicMs() < untilMs) {
    const found = await borrowFrom(dataDir)
    if (found) return found
    await systemClock.sleep(LOOKING_AGAIN_AFTER_MS)
  }
  return undefined
}

async function borrowFrom(dataDir: string): Promise<Reached | undefined> {
  const holder = await lookForHolder(dataDir)
  return holder && borrow(holder)
}

function borrow(holder: Holder): Reached {
  return { ...pick(holder), holder, [Symbol.asyncDispose]: async () => {} }
}

/** Loads the code only where a process has left its address. */
export async function lookForHolder(dataDir: string): Promise<Holder | undefined> {
  if (!isThere(holderFileOf(dataDir))) return undefined
  const { findHolder } = await import('../../embedded/storage/data-directory.ts')
  return findHolder(dataDir)
}

function holderFileOf(dataDir: string): string {
  return join(dataDir, 'holder')
}

function pick({ url, token, instanceId }: LibraryAccess): LibraryAccess {
  return { url, token, instanceId }
}
