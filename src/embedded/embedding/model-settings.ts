import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { messageOf, systemCodeOf } from '../../foundation/errors.ts'
import type { EmbeddingPurpose } from './embedder.ts'

/** The way in which the vectors of all tokens give that of the text. */
export type Pooling = 'mean' | 'cls' | 'lasttoken'

/** The settings of a model in the files beside it. */
export interface ModelSettings {
  readonly pooling: Pooling
  /** Put before each text. */
  readonly prompts: Readonly<Record<EmbeddingPurpose, string>>
  /** Tokens of a text beyond these are left out. */
  readonly maxTokens: number
  /** A step after pooling that needs numbers of its own, such as "2_Dense"; undefined for none. */
  readonly furtherModule: string | undefined
}

/** Most models take as many; a chunk of 600 characters has about 150. */
const USUAL_TOKENS = 512
/** Time and memory grow with the square of the tokens. */
const MAX_TOKENS = 1_024
/** These models count places from the one after that of the padding. */
const COUNTS_FROM_PADDING = /roberta|camembert|mpnet/
/** Comparing by the cosine normalizes. */
const KNOWN_MODULES = /\.(?:Transformer|Pooling|Normalize)$/

const configShape = z.object({
  model_type: z.string().default(''),
  max_position_embeddings: z.int().nullish(),
  pad_token_id: z.int().nullish(),
})
const tokenizerShape = z.object({ model_max_length: z.number().nullish() })
const sentenceShape = z.object({ max_seq_length: z.int().nullish() })
const modulesShape = z.array(z.object({ path: z.string(), type: z.string() }))
const promptsShape = z.object({
  prompts: z.record(z.string(), z.string()).default({}),
  default_prompt_name: z.string().nullish(),
})
/** Older files have a flag for each way, newer ones its name. */
const poolingShape = z.looseObject({ pooling_mode: z.string().optional() })

/** Reads what sentence-transformers and Hugging Face keep beside a model in `folder`. Throws an Error that names the file. */
export function readModelSettings(folder: string): ModelSettings {
  const modules = readJson(folder, 'modules.json', modulesShape) ?? []
  const poolingPath = modules.find(({ type }) => type.endsWith('.Pooling'))?.path ?? '1_Pooling'
  return {
    pooling: readPooling(folder, join(poolingPath, 'config.json')),
    prompts: readPrompts(folder),
    maxTokens: readMaxTokens(folder),
    furtherModule: modules.find(({ type }) => !KNOWN_MODULES.test(type))?.path,
  }
}

function readPooling(folder: string, name: string): Pooling {
  const found = readJson(folder, name, poolingShape) ?? {}
  const flags = Object.keys(found).filter((key) => key.startsWith('pooling_mode_') && found[key] === true)
  const flagged = flags.map((key) => key.slice('pooling_mode_'.length).replace(/_tokens?$/, ''))
  const modes = found.pooling_mode === undefined ? flagged : [found.pooling_mode]
  const [mode = 'mean', ...others] = modes
  if (others.length === 0 && (mode === 'mean' || mode === 'cls' || mode === 'lasttoken')) return mode
  throw new Error(`${name} wants the pooling ${modes.join(' and ')}; only mean, cls and lasttoken are known here`)
}

/** Reads the prompts by the names that sentence-transformers gives them. */
function readPrompts(folder: string): ModelSettings['prompts'] {
  const { prompts = {}, default_prompt_name } =
    readJson(folder, 'config_sentence_transformers.json', promptsShape) ?? {}
  const otherwise = prompts[default_prompt_name ?? ''] ?? ''
  const document = prompts.document ?? prompts.passage ?? prompts.corpus
  return { query: prompts.query ?? otherwise, document: document ?? otherwise }
}

function readMaxTokens(folder: string): number {
  const config = readJson(folder, 'config.json', configShape)
  const limits = [
    config && countPlaces(config),
    readJson(folder, 'sentence_bert_config.json', sentenceShape)?.max_seq_length,
    readJson(folder, 'tokenizer_config.json', tokenizerShape)?.model_max_length,
  ]
    .filter((limit) => typeof limit === 'number')
    .filter((limit) => limit > 0)
  return limits.length === 0 ? USUAL_TOKENS : Math.min(MAX_TOKENS, ...limits)
}

function countPlaces({ model_type, max_position_embeddings: places, pad_token_id }: z.infer<typeof configShape>) {
  if (typeof places !== 'number' || !COUNTS_FROM_PADDING.test(model_type)) return places
  return places - (pad_token_id ?? 1) - 1
}

/** Undefined for a file that is not there. */
function readJson<T extends z.ZodType>(folder: string, name: string, shape: T): z.output<T> | undefined {
  try {
    return shape.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')))
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new Error(`${name} cannot be read: ${why.replaceAll(/\s+/g, ' ')}`, { cause: error })
  }
}
