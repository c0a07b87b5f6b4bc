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

/** How long a holder may take to start, to end, or to hand the library over. */
const HOLDER_TIMEOUT_MS = 30_000
const RETRY_DELAY_MS = 50
/** A process that has handed the library over does not take it back for this time. */
const NO_RETURN_MS = 5_000

type LibraryAccess = Pick<Holder, 'url' | 'token' | 'instanceId'>

export interface SharedLibrary extends LibraryAccess, Whereabouts, AsyncDisposable {
  /** The other process that held the library when it was opened; undefined if this process holds it. */
  readonly holder: Holder | undefined
  /** Undefined while another process holds the library. */
  readonly embedFor?: EmbeddedLibrary['embedFor'] | undefined
}

/** The library, held by this process or by `holder`. */
type Reached = LibraryAccess &
  AsyncDisposable & { readonly holder?: Holder } & Partial<Pick<EmbeddedLibrary, 'uploadPort' | 'embedFor'>>

/** Connects to the library's holder, or starts the library. Throws LockedError if the holder gives no address, and what `start` throws. */
export async function shareLibrary(
  options: LibraryThreadOptions,
  start: (options: LibraryThreadOptions) => Promise<EmbeddedLibrary>,
  signal: AbortSignal,
): Promise<SharedLibrary> {
  const { dataDir, port } = options
  const hasOwnAddress = port !== undefined
  const takeOver = async (holder: Holder, held: LockedError) =>
    holder.handOverUrl === null ? borrow(holder) : askForLibrary(holder, held)
  const reach = () => startWhenFree<Reached>(dataDir, () => start(options), hasOwnAddress ? takeOver : borrow, signal)
  let reached: Reached = (hasOwnAddress ? undefined : await borrowFrom(dataDir)) ?? (await reach())
  let relocating: Promise<string> | undefined
  const relocate = async () => {
    const wasOurs = reached.holder === undefined
    await reached[Symbol.asyncDispose]()
    try {
      const successor = wasOurs ? await waitForHolder(dataDir, NO_RETURN_MS) : undefined
      reached = successor ?? (await reach())
    } catch (error) {
      // Callers that wait for an answer retry only if the service seems unreachable.
      if (!(error instanceof LockedError)) throw error
      throw new TemporaryError('service-unreachable', error.message, { cause: error })
    }
    return reached.url
  }
  return {
    ...pickAccess(reached),
    holder: reached.holder,
    get uploadPort() {
      return reached.uploadPort
    },
    get embedFor() {
      return reached.embedFor
    },
    // While a holder has the lock, it listens at the address in its file.
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

/** Starts the library in this process, after asking any other holder to hand it over. Throws LockedError. */
export async function serveAlone(
  dataDir: string,
  start: () => Promise<EmbeddedLibrary>,
  signal: AbortSignal,
): Promise<EmbeddedLibrary> {
  return startWhenFree(dataDir, start, askForLibrary, signal)
}

/** Asks the holder to hand the library over; throws `held` if this holder never does. */
async function askForLibrary({ handOverUrl }: Holder, held: LockedError): Promise<undefined> {
  if (handOverUrl === null) throw held
  await fetch(handOverUrl, { method: 'POST', signal: AbortSignal.timeout(HOLDER_TIMEOUT_MS) }).catch(() => {})
}

/** Calls `start` once no process holds the library. Until then it calls `whileHeld`, and returns its first result. Throws LockedError. */
async function startWhenFree<T>(
  dataDir: string,
  start: () => Promise<T>,
  whileHeld: (holder: Holder, held: LockedError) => Promise<T | undefined> | T | undefined,
  signal: AbortSignal,
): Promise<T> {
  const untilMs = systemClock.monotonicMs() + HOLDER_TIMEOUT_MS
  for (let held: LockedError | undefined; ; ) {
    // A failed start costs a thread, so a process that waits starts the library only if nobody holds it.
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
    // Random, so that waiting processes do not all try at the same moment.
    await systemClock.sleep(RETRY_DELAY_MS * (1 + Math.random()), signal)
  }
}

async function isLibraryHeld(dataDir: string): Promise<boolean> {
  const { isHeld } = await import('../../embedded/storage/data-directory.ts')
  return isHeld(dataDir)
}

async function waitForHolder(dataDir: string, limitMs: number): Promise<Reached | undefined> {
  const untilMs = systemClock.monotonicMs() + limitMs
  while (systemClock.monotonicMs() < untilMs) {
    const found = await borrowFrom(dataDir)
    if (found) return found
    await systemClock.sleep(RETRY_DELAY_MS)
  }
  return undefined
}

async function borrowFrom(dataDir: string): Promise<Reached | undefined> {
  const holder = await lookForHolder(dataDir)
  return holder && borrow(holder)
}

function borrow(holder: Holder): Reached {
  return { ...pickAccess(holder), holder, [Symbol.asyncDispose]: async () => {} }
}

/** Returns the process that holds the library, if any. Loads the code for this only if there is a holder file. */
export async function lookForHolder(dataDir: string): Promise<Holder | undefined> {
  if (!isThere(holderFileOf(dataDir))) return undefined
  const { findHolder } = await import('../../embedded/storage/data-directory.ts')
  return findHolder(dataDir)
}

function holderFileOf(dataDir: string): string {
  return join(dataDir, 'holder')
}

function pickAccess({ url, token, instanceId }: LibraryAccess): LibraryAccess {
  return { url, token, instanceId }
}
