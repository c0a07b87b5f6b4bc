import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import type { Clock } from '../../foundation/clock.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../foundation/errors.ts'
import { sha256Of } from '../../foundation/files/sha256-of.ts'
import type { Logger } from '../../foundation/logger.ts'
import { type Embedder, EmbedderError } from './embedder.ts'
import { openEmbedderThread } from './embedder-thread.ts'
import { findModelFiles } from './model-files.ts'

const THREAD_URL = threadEntry('./folder-thread', import.meta.url)

/** An ONNX model in a folder as Hugging Face has it, computed by WebAssembly. */
export function openFolderEmbedder(folder: string, { clock, logger }: { clock: Clock; logger: Logger }): Embedder {
  const { embed, reload, stop } = openEmbedderThread({
    entry: THREAD_URL,
    data: { folder },
    owner: 'the model of the embedder',
    clock,
    logger,
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

/** The identity of a model, by the bytes of its files. */
interface ModelIdentity {
  /** Equal for two models only if all their files are. */
  readonly id: string
  /** Sizes, times and inodes: as long as they are equal, the files are not read again. */
  readonly stamp: string
}

/** Reads the files of the model in `folder`, unless nothing has changed since `known`. Throws as `findModelFiles`, or of a file. */
async function identifyModel(folder: string, known: ModelIdentity | undefined): Promise<ModelIdentity> {
  const { graph, externalData, settings } = findModelFiles(folder)
  // The tokenizer is among the settings.
  const files = [graph, ...externalData, ...settings]
  const stamp = JSON.stringify(files.map(stampOf))
  if (stamp === known?.stamp) return known
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file.slice(folder.length)}\n`).update(await digestOf(file))
  return { id: `onnx ${hash.digest('hex')}`, stamp }
}

function stampOf(file: string): readonly string[] {
  const { size, mtimeNs, ctimeNs, ino } = statSync(file, { bigint: true })
  return [file, ...[size, mtimeNs, ctimeNs, ino].map(String)]
}

async function digestOf(file: string): Promise<Buffer> {
  const digest = await sha256Of(createReadStream(file), statSync(file).size)
  if (!digest) throw new Error(`"${file}" is being written`)
  return digest
}
