import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../../foundation/concurrency/lower-priority.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { EmbeddingPurpose, Vector } from './embedder.ts'
import { type EmbedAnswered, type EmbedCall, embedCall } from './embedder-messages.ts'

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
  parentPort?.on('message', async (raw) => parentPort?.postMessage(await answer(embedCall.parse(raw), loaded)))
}

async function answer({ call, text, purpose }: EmbedCall, loaded: Promise<EmbedText>): Promise<EmbedAnswered> {
  try {
    const embedText = await loaded
    return { kind: 'embedded', call, vector: await embedText(text, purpose) }
  } catch (error) {
    return { kind: 'failed', call, error: messageOf(error) }
  }
}
