import { freeBytesOf } from '../../foundation/files/free-bytes.ts'
import { countWatches } from '../../local/watch/count-watches.ts'
import type { Machine } from './doctor-context.ts'

export const thisMachine: Machine = {
  nowMs: () => Date.now(),
  freeBytes: freeBytesOf,
  countWatches: () => countWatches(),
}
