import { constants } from 'node:os'
import { lowerPriority } from '../../foundation/concurrency/lower-priority.ts'
import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import type { EmbeddingPurpose, Vector } from './embedder.ts'

/** The input of a call to the thread. */
export interface TextToEmbed {
  readonly text: string
  readonly purpose: EmbeddingPurpose
}

/** A model that is loaded: embeds one text; null for a text that it cannot judge. */
export type EmbedText = (text: string, purpose: EmbeddingPurpose) => Promise<Vector | null>

/** Makes this thread an embedder's, which answers calls by the model that `load` loads. */
export function answerTexts(load: () => Promise<EmbedText>): void {
  // On Linux a priority is that of the thread that sets it, elsewhere that of the whole process. It is not the lowest, since
  // queries have to get through while other programs work.
  if (process.platform === 'linux') lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const loaded = load()
  // A failure is the answer to each call.
  loaded.catch(() => {})
  answerCalls(async ({ text, purpose }: TextToEmbed) => (await loaded)(text, purpose))
}
