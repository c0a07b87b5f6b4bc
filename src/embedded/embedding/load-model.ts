import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Tokenizer } from '@huggingface/tokenizers'
import type { InferenceSession, Tensor } from 'onnxruntime-web'
import { z } from 'zod'
import { messageOf } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { EmbedText } from './answer-texts.ts'
import type { Vector } from './embedder.ts'
import { findModelFiles, type ModelFiles, requirePackages } from './model-files.ts'
import { type Pooling, readModelSettings } from './model-settings.ts'

type Runtime = typeof import('onnxruntime-web')

/** The values that a model may need of a text, by the names of its inputs. */
const INPUTS: Readonly<Record<string, (id: number, index: number) => number>> = {
  input_ids: (id) => id,
  attention_mask: () => 1,
  token_type_ids: () => 0,
  position_ids: (_, index) => index,
}
/** The first that the model has; a vector of the whole text comes before those of its tokens. */
const SENTENCE_OUTPUT = 'sentence_embedding'
const OUTPUTS = [SENTENCE_OUTPUT, 'last_hidden_state', 'token_embeddings']
const MAX_DIMENSIONS = 4_096
const MOST_NAMED = 5
const MAX_SAID = 200
const ERRORS_ONLY = 3
const jsonObject = z.looseObject({})
/** The beginning of the file that a clone without Git LFS has in the place of a large one. */
const LFS_POINTER = 'version https://git-lfs'

/** Loads the model in `folder`; it embeds one text at a time, in this thread alone. Throws an Error that says what is wrong. */
export async function loadModel(folder: string): Promise<EmbedText> {
  requirePackages()
  const files = findModelFiles(folder)
  const { pooling, prompts, maxTokens, furtherModule } = readModelSettings(folder)
  const tokenize = await loadTokenizer(files, maxTokens, folder)
  const runtime = await import('onnxruntime-web')
  const session = await openSession(runtime, files)
  checkInputs(session)
  const output = chooseOutput(session)
  if (furtherModule !== undefined && output !== SENTENCE_OUTPUT) {
    throw new Error(`modules.json wants "${furtherModule}", which the ONNX graph does not contain`)
  }
  return async (text, purpose) => {
    const ids = tokenize(prompts[purpose] + text)
    if (!ids) return null
    return vectorOf(await runModel(runtime, session, ids, output), ids.length, pooling)
  }
}

async function loadTokenizer({ tokenizer }: ModelFiles, maxTokens: number, folder: string): Promise<TokenizeText> {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  try {
    const config = join(folder, 'tokenizer_config.json')
    return createTokenizeText(
      new Tokenizer(readObject(tokenizer), existsSync(config) ? readObject(config) : {}),
      maxTokens,
    )
  } catch (error) {
    throw new Error(`its tokenizer cannot be loaded: ${messageOf(error)}`, { cause: error })
  }
}

function readObject(file: string): object {
  return jsonObject.parse(JSON.parse(readFileSync(file, 'utf8')))
}

async function openSession(runtime: Runtime, { graph, externalData }: ModelFiles): Promise<InferenceSession> {
  // More threads would take the cores from all else that this machine does.
  runtime.env.wasm.numThreads = 1
  try {
    const bytes = await readFile(graph)
    if (bytes.subarray(0, LFS_POINTER.length).toString() === LFS_POINTER) {
      throw new Error('it is a pointer of Git LFS, whose file "git lfs pull" fetches')
    }
    return await runtime.InferenceSession.create(bytes, {
      executionProviders: ['wasm'],
      logSeverityLevel: ERRORS_ONLY,
      externalData: await Promise.all(
        externalData.map(async (file) => ({ path: basename(file), data: await readFile(file) })),
      ),
    })
  } catch (error) {
    throw new Error(`${basename(graph)} cannot be loaded: ${reasonOf(error)}`, { cause: error })
  }
}

async function runModel(runtime: Runtime, session: InferenceSession, ids: readonly number[], output: string) {
  try {
    const results = await session.run(toFeeds(runtime, session, ids), [output])
    return results[output]
  } catch (error) {
    throw new Error(`it fails with ${ids.length} tokens: ${reasonOf(error)}`, { cause: error })
  }
}

/** Returns the runtime's message without its own numbers of errors. */
function reasonOf(error: unknown): string {
  const message = messageOf(error).replace(/^.*ERROR_MESSAGE: /s, '')
  return escapeText(truncateText(message.replaceAll(/\s+/g, ' ').trim(), MAX_SAID))
}

function checkInputs({ inputNames }: InferenceSession): void {
  const unknown = inputNames.filter((name) => !Object.hasOwn(INPUTS, name))
  if (unknown.length === 0) return
  throw new Error(`it wants more than a text: ${unknown.slice(0, MOST_NAMED).join(', ')}`)
}

function chooseOutput({ outputNames }: InferenceSession): string {
  const [only, ...others] = outputNames
  const output = OUTPUTS.find((name) => outputNames.includes(name)) ?? (others.length === 0 ? only : undefined)
  if (output !== undefined) return output
  throw new Error(`it gives ${outputNames.slice(0, MOST_NAMED).join(', ')}, but none of ${OUTPUTS.join(', ')}`)
}

function toFeeds({ Tensor }: Runtime, { inputNames }: InferenceSession, ids: readonly number[]) {
  const entries = inputNames.map((name) => {
    const values = BigInt64Array.from(ids, (id, index) => BigInt(INPUTS[name]?.(id, index) ?? 0))
    return [name, new Tensor('int64', values, [1, ids.length])] as const
  })
  return Object.fromEntries(entries)
}

function vectorOf(output: Tensor | undefined, tokenCount: number, pooling: Pooling): Vector {
  const { data, dims = [] } = output ?? {}
  if (!(data instanceof Float32Array)) throw new Error(`it gives ${output?.type}, but no float32`)
  const isByToken = dims.length === 3 && dims[1] === tokenCount
  if (dims[0] !== 1 || !(isByToken || dims.length === 2))
    throw new Error(`it gives numbers in the shape ${dims.join(' × ')}`)
  const vector = isByToken ? poolTokens(data, tokenCount, pooling) : Float32Array.from(data)
  if (vector.length > MAX_DIMENSIONS) throw new Error(`its vectors have ${vector.length} numbers`)
  if (!vector.every(Number.isFinite)) throw new Error('its vectors hold what is no number')
  return vector
}

/** Turns a text into the numbers of at most `maxTokens` tokens; undefined for a text that has none. */
type TokenizeText = (text: string) => readonly number[] | undefined

const ANY_TEXT = 'text'

/**
 * A tokenizer frames each text in tokens of its own, such as [CLS] and [SEP]. A text that is too long loses its end, never the
 * frame, whose last token stands for the text in some models.
 */
function createTokenizeText(tokenizer: Tokenizer, maxTokens: number): TokenizeText {
  const bare = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids
  const framed = (text: string) => tokenizer.encode(text).ids
  const [inner, whole] = [bare(ANY_TEXT), framed(ANY_TEXT)]
  const start = whole.indexOf(inner[0] ?? -1)
  if (start < 0) throw new Error('it has no tokens for a simple word')
  const [before, after] = [whole.slice(0, start), whole.slice(start + inner.length)]
  const space = maxTokens - before.length - after.length
  if (space < 1) throw new Error(`its frame has more than the ${maxTokens} tokens that the model takes`)
  return (text) => {
    const ids = bare(text).slice(0, space)
    return ids.length === 0 ? undefined : [...before, ...ids, ...after]
  }
}

/** The vector of a text, of those of its tokens, which follow each other in `numbers`. */
function poolTokens(numbers: Float32Array, tokenCount: number, pooling: Pooling): Vector {
  const length = numbers.length / tokenCount
  if (pooling === 'cls') return Float32Array.from(numbers.subarray(0, length))
  if (pooling === 'lasttoken') return Float32Array.from(numbers.subarray(-length))
  const sum = new Float32Array(length)
  for (const [index, number] of numbers.entries()) sum[index % length] = (sum[index % length] ?? 0) + number
  return sum.map((each) => each / tokenCount)
}
