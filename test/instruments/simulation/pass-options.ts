import type { PassOptions } from '../../../src/sync/pass.ts'

/** Everything that guards ask is answered. */
export const ANSWERS = { acceptsRemovals: true, adopts: true, acceptsRoot: true }

export const PLAIN: PassOptions = {
  waitMs: 0,
  hashEverything: false,
  isDryRun: false,
  acceptsRemovals: false,
  adopts: false,
  acceptsRoot: false,
  acceptsBreadth: true,
  minAgeMs: null,
}
