import { quarantineDurationMs, quarantineLeftMs } from '../failure/quarantine-duration.ts'
import { IN_DOUBT } from './react-to-doubt.ts'

/** Earlier uploads of a copy that may have arrived, and when the last one began (wall clock). */
interface DoubtedCopy {
  readonly uploads: number
  readonly begunAt: number
}

/** Milliseconds until a copy may be uploaded again. The first doubt has no pause, so that a lost answer costs no time. */
export function linkPauseLeftMs({ uploads, begunAt }: DoubtedCopy, nowMs: number): number {
  return uploads < 2 ? 0 : quarantineLeftMs(begunAt + quarantineDurationMs(uploads - 2, IN_DOUBT.code), nowMs)
}
