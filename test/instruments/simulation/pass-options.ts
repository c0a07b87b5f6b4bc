import type { MirrorSettings } from '../../../src/sync/engine.ts'
import type { PassOptions } from '../../../src/sync/pass.ts'
import { ROOT } from './world.ts'

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

/** The mirror of every simulated program. */
export const DOCS: MirrorSettings = {
  name: 'docs',
  path: ROOT,
  library: 'Library',
  mayCreateLibrary: false,
  remotePath: '/Docs',
  ignore: [],
  include: [],
  maxSizeBytes: null,
  oneFileSystem: false,
  emptyFiles: 'upload',
  settleMs: 5_000,
  isAdHoc: false,
  breadth: null,
}
