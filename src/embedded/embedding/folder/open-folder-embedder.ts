import type { Clock } from '../../../foundation/clock.ts'
import { threadEntry } from '../../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../../foundation/errors.ts'
import type { Logger } from '../../../foundation/logger.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import { openEmbedderThread } from '../thread/open-embedder-thread.ts'
import { identifyModel, type ModelIdentity } from './identify-model.ts'

const THREAD_URL = threadEntry('./folder-thread', import.meta.url)

/** An ONNX model in a folder as Hugging Face has it, computed by WebAssembly. */
export function openFolderEmbedder(folder: string, { clock, logger }: { clock: Clock; logger: Logger }): Embedder {
  const { embed, reload, stop } = openEmbedderThread({
    ...{ entry: THREAD_URL, workerData: { folder }, owner: 'the model of the embedder' },
    ...{ clock, logger },
  })
  let known: ModelIdentity | undefined
  let identifying: Promise<string> | undefined
  const identify = async () => {
    const before = known
    known = await identifyModel(folder, before)
    if (before && before.id !== known.id) await reload()
    return known.id
  }
  return {
    minSimilarity: 0,
    identify: async () => {
      identifying ??= identify().finally(() => {
        identifying = undefined
      })
      try {
        return await identifying
      } catch (error) {
        throw new EmbedderError(`the model of the embedder cannot be used: ${messageOf(error)}`, { cause: error })
      }
    },
    embed,
    stop,
  }
}
