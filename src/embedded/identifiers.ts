import { randomUUID } from 'node:crypto'

/** A new opaque identifier (2.1): its first half is the time, so that neighbours in time are neighbours in an index. */
export function newIdentifier(nowMs: number): string {
  return nowMs.toString(16).padStart(12, '0') + randomUUID().replaceAll('-', '').slice(0, 20)
}
