import type { ResourceRow } from '../database/resources-table.ts'
import { MAX_SMALL_BYTES } from '../storage/content-receiver.ts'
import { kindOf } from './readers/content-kind.ts'

/**
 * The reader of a document: the service itself, a child process, or the child process of low priority that also recognizes text in
 * pictures. Each stage has a loop of its own, so that none holds up another.
 */
export type ReadingStage = 'service' | 'child' | 'recognizer'

/** The stage that reads what an earlier one could not. */
export const NEXT_STAGE = { service: 'child', child: 'recognizer', recognizer: undefined } as const satisfies Record<
  ReadingStage,
  ReadingStage | undefined
>

/**
 * The stage that begins with a document. The service itself reads small plain text, whose cost is linear and bounded, and what has no
 * text; child processes read every other document, because a parser may take long or fail.
 */
export function firstStage({ mimeType, sizeBytes }: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>): ReadingStage {
  const kind = kindOf(mimeType)
  if (kind === 'picture') return 'recognizer'
  const isSmallText = (kind === 'text' || kind === 'unknown') && sizeBytes <= MAX_SMALL_BYTES
  return kind === 'other' || kind === 'unsupported' || isSmallText ? 'service' : 'child'
}
