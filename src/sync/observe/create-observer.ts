import type { Clock } from '../../foundation/clock.ts'
import type { FileSystem } from '../../local/read/file-system.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { WalkOptions } from './observation.ts'
import type { Observer } from './observe-directory.ts'

/** The size of a read while hashing; see hashGuarded. */
const SCRATCH_BYTES = 2 ** 20

/** The buffer of one thread, through which it reads what it hashes. */
export function newScratch(): Uint8Array {
  return new Uint8Array(SCRATCH_BYTES)
}

interface ObserverContext {
  readonly fs: FileSystem
  readonly clock: Clock
  readonly scratch?: Uint8Array
}

/** Observes with the knowledge of a store; without one, every file is new. */
export function createObserver(
  store: Pick<StoreReader, 'directories' | 'files'> | undefined,
  options: WalkOptions,
  { fs, clock, scratch = newScratch() }: ObserverContext,
): Observer {
  const { mirrorId } = options
  return {
    fs,
    clock,
    options,
    hasDigest: (path, digest) => store?.directories.findDigest(mirrorId, path)?.equals(digest) ?? false,
    listKnown: (path) => store?.files.listForCompare(mirrorId, path) ?? [],
    findKnown: (path, name) => store?.files.findForCompare(mirrorId, path, name),
    scratch,
  }
}
