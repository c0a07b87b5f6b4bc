import type { RootPlace } from '../../local/read/inspect-root.ts'
import type { ReadAmount } from '../../local/read/read-meter.ts'
import type { DirectoryEntries, RescanOptions, ScanBatch } from './scan-batch.ts'

/** Cells of the memory that the walking threads share with the main thread. */
export const CREDITS = 0
export const IDLE_WORKERS = 1

/** Batches that may be posted and not yet read before a walking thread waits. */
export const MAX_BATCHES_UNDER_WAY = 6

export type ToWorker =
  | { readonly kind: 'open'; readonly options: RescanOptions; readonly shared: Int32Array }
  | { readonly kind: 'walk'; readonly root: RootPlace; readonly paths: readonly string[] }
  | { readonly kind: 'rescan'; readonly root: RootPlace; readonly entries: readonly DirectoryEntries[] }
  | { readonly kind: 'end' }

export type FromWorker =
  | { readonly kind: 'batch'; readonly batch: ScanBatch }
  | { readonly kind: 'read'; readonly amount: ReadAmount }
  /** Directories taken off this thread's stack, for an idle thread to walk. */
  | { readonly kind: 'stolen'; readonly paths: readonly string[] }
  | { readonly kind: 'idle' }
