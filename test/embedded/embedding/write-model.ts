import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { bytesOf, encodeOnnx, type Graph } from '../../support/onnx/onnx-graph.ts'
import { CONCEPTS } from './concepts.ts'

/** What a model of the tests does otherwise than most. */
export interface ModelForm {
  /** Numbers of a vector; the concepts are the first. */
  readonly dimensions?: number
  /** The most tokens that it takes: it fails with more. */
  readonly places?: number
  /** The name of its output. */
  readonly output?: string
  /** An input that it wants beside the usual ones. */
  readonly input?: string
  /** The number that the vectors of the concepts have, 1 by default. */
  readonly strength?: number
  /** The file beside the graph that holds the vectors of the words. */
  readonly file?: string
}

const DIMENSIONS = 8
const FRAME = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
const VOCABULARY = [...FRAME, ...CONCEPTS.flat(), ...['query', 'passage', ':', 'the', '##s']]

/** A folder with a model in ONNX and a tokenizer, as Hugging Face has it, and these files more; removed when the test is over. */
export function writeModel(form: ModelForm = {}, files: Readonly<Record<string, unknown>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'model-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const beside = form.file === undefined ? {} : { [`onnx/${form.file}`]: bytesOf(wordVectors(form)) }
  writeFiles(folder, { 'tokenizer.json': wordPieces(), 'onnx/model.onnx': encodeModel(form), ...beside, ...files })
  return folder
}

/** Writes bytes as they are, everything else as JSON; undefined removes a file. */
export function writeFiles(folder: string, files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    if (content === undefined) rmSync(file, { force: true })
    else writeFileSync(file, Buffer.isBuffer(content) ? content : JSON.stringify(content))
  }
}

/** The number of a token, as the model and the tokenizer have it. */
export function tokenId(token: string): number {
  return VOCABULARY.indexOf(token)
}

/**
 * A graph that looks up the vector of each token, and adds nothing for its place, of which it knows so many. The vector of a word
 * is that of its concept; those of other tokens are short and differ by their number.
 */
export function encodeModel(form: ModelForm = {}): Buffer {
  const { output = 'last_hidden_state', places = 512, dimensions = DIMENSIONS } = form
  const inFile = form.file === undefined ? {} : { file: form.file }
  const isSentence = output === 'sentence_embedding'
  const tokens = isSentence ? 'tokens' : output
  const inputs = ['input_ids', 'attention_mask', 'token_type_ids', ...(form.input === undefined ? [] : [form.input])]
  return encodeOnnx({
    inputs: inputs.map((name) => ({ name, type: 'int64', dimensions: ['batch', 'length'] })),
    outputs: [
      { name: output, type: 'float', dimensions: isSentence ? ['batch', dimensions] : ['batch', 'length', dimensions] },
    ],
    constants: [
      { name: 'words', dimensions: [VOCABULARY.length, dimensions], values: wordVectors(form), ...inFile },
      { name: 'places', dimensions: [places, dimensions], values: new Float32Array(places * dimensions) },
      { name: 'zero', dimensions: [], values: BigInt64Array.of(0n) },
      { name: 'one', dimensions: [], values: BigInt64Array.of(1n) },
    ],
    operations: [
      { type: 'Gather', inputs: ['words', 'input_ids'], output: 'looked-up' },
      { type: 'Shape', inputs: ['input_ids'], output: 'shape' },
      { type: 'Gather', inputs: ['shape', 'one'], output: 'length' },
      { type: 'Range', inputs: ['zero', 'length', 'one'], output: 'indices' },
      { type: 'Gather', inputs: ['places', 'indices'], output: 'placed' },
      { type: 'Add', inputs: ['looked-up', 'placed'], output: tokens },
      ...sentenceOperations(isSentence ? output : undefined),
    ],
  })
}

function sentenceOperations(output: string | undefined): Graph['operations'] {
  if (output === undefined) return []
  return [{ type: 'ReduceMean', inputs: ['tokens'], output, attributes: { axes: [1], keepdims: 0 } }]
}

function wordVectors({ strength = 1, dimensions = DIMENSIONS }: ModelForm): Float32Array {
  const rows = VOCABULARY.map((token, index) => {
    const concept = CONCEPTS.findIndex((words) => words.includes(token))
    return Array.from({ length: dimensions }, (_, place) => {
      if (concept >= 0) return place === concept ? strength : 0
      return place === dimensions - 1 ? 0.01 * (index + 1) : 0
    })
  })
  return Float32Array.from(rows.flat())
}

/** A tokenizer.json of the kind that BERT has. */
function wordPieces() {
  const special = (id: string) => ({ id, ids: [tokenId(id)], tokens: [id] })
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: FRAME.map((content, id) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': special('[CLS]'), '[SEP]': special('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(VOCABULARY.map((token, id) => [token, id])),
    },
  }
}
