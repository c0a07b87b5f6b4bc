import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { placeOf } from '../../../src/local/read/open-and-recheck-root.ts'
import type { WalkOptions } from '../../../src/sync/scan/scan-batch.ts'

/** A walk of a tree of which the state knows nothing. */
export function walkOptions(rootRealPath: string): WalkOptions {
  return {
    storeDirectory: null,
    mirrorId: 1,
    root: placeOf(nodeFileSystem, rootRealPath),
    rules: { ignore: [], include: [], maxSizeBytes: null, oneFileSystem: true, emptyFiles: 'upload' },
    ownDirectories: [],
    hashEverything: false,
    listIgnored: true,
    settleMs: null,
  }
}
