import { formatSize } from '../../foundation/text/units.ts'
import { RESERVE_BYTES } from '../limits.ts'
import { type Finding, failed, ok, warning } from './finding.ts'

const SOON_FULL_BYTES = 2 ** 30

/** Assesses the free bytes on the disk of `place`. */
export function assessDisk(place: string, freeBytes: number): Finding {
  const text = `${formatSize(freeBytes)} free at ${place}`
  if (freeBytes >= SOON_FULL_BYTES) return ok(text)
  const remedy = 'free space there, or choose another directory (stateDir, dataDir)'
  if (freeBytes >= RESERVE_BYTES) return warning(text, remedy)
  return failed(`${text}, and ${formatSize(RESERVE_BYTES)} are kept in reserve: nothing is sent`, {
    code: 'disk-full',
    remedy,
  })
}
