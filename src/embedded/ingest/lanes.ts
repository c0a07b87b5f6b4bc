import type { ResourceRow } from '../database/tables/resources.ts'
import { MAX_SMALL_BYTES } from '../storage/content-receiver.ts'
import { kindOf } from './extract/kinds.ts'

/** Who reads a document: the service itself, or the child process. Each lane has a loop of its own. */
export type Lane = 'service' | 'child'

/** The lane that goes on with what another one could not read. */
export const NEXT_LANE = { service: 'child', child: undefined } as const satisfies Record<Lane, Lane | undefined>

/**
 * The lane that begins with a document. The service itself reads small plain text, whose cost is linear and bounded, and what has no
 * text; the child process reads every other document, because a parser may take long or fail.
 */
export function firstLane({ mimeType, sizeBytes }: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>): Lane {
  const kind = kindOf(mimeType)
  const isSmallText = (kind === 'text' || kind === 'unknown') && sizeBytes <= MAX_SMALL_BYTES
  return kind === 'other' || isSmallText ? 'service' : 'child'
}
