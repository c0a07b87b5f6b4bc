import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { EmbeddingPurpose } from '../../../src/embedded/embedding/embedder.ts'
import { openFolderEmbedder } from '../../../src/embedded/embedding/folder-embedder.ts'
import { loadModel } from '../../../src/embedded/embedding/load-model.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { similarityOf } from './concepts.ts'
import { encodeModel, type ModelForm, tokenId, writeFiles, writeModel } from './write-model.ts'

function openEmbedder(folder: string) {
  const embedder = openFolderEmbedder(folder, { clock: systemClock, logger: silentLogger })
  onTestFinished(embedder.stop)
  return embedder
}

/** As the thread does it, in this one: that is quicker. */
async function embedOne(folder: string, text: string, purpose: EmbeddingPurpose = 'document') {
  const embedText = await loadModel(folder)
  return await embedText(text, purpose)
}

/** The last number of a vector of the model, of which each token has its own share. */
function shareOf(...tokens: string[]): number {
  return tokens.reduce((sum, token) => sum + 0.01 * (tokenId(token) + 1), 0)
}

it('texts with words of the same meaning have vectors near each other', async () => {
  const texts = ['The surgeons pay.', 'a physician and his wages', 'vessels']
  const [surgeons, physician, vessels] = await openEmbedder(writeModel()).embed(texts, 'document')
  expect(surgeons).toHaveLength(8)
  expect(similarityOf(surgeons, physician)).toBeGreaterThan(0.9)
  expect(similarityOf(surgeons, vessels)).toBeLessThan(0.1)
})

it.each([
  ['vectors of tokens', 'token_embeddings'],
  ['one vector of the text', 'sentence_embedding'],
  ['one output of any name', 'embeddings'],
])('a model that gives %s is taken', async (_, output) => {
  const vector = await embedOne(writeModel({ output, dimensions: 5 }), 'car')
  expect(vector).toHaveLength(5)
  // The mean of [CLS], the word and [SEP].
  expect(vector?.[0]).toBeCloseTo(1 / 3)
})

it.each([
  ['the mean of all tokens', { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }, 1 / 3],
  ['the first token', { pooling_mode_mean_tokens: false, pooling_mode_cls_token: true }, shareOf('[CLS]')],
  ['the last token', { pooling_mode_lasttoken: true }, shareOf('[SEP]')],
  ['what is named', { pooling_mode: 'cls' }, shareOf('[CLS]')],
])('the pooling of the model is used: %s', async (_, pooling, expected) => {
  const folder = writeModel({}, { '1_Pooling/config.json': pooling })
  const vector = await embedOne(folder, 'car')
  expect(expected === 1 / 3 ? vector?.[0] : vector?.[7]).toBeCloseTo(expected)
  expect(expected === 1 / 3 ? 0 : vector?.[0]).toBe(0)
})

it('queries and documents get the prompts of the model', async () => {
  const prompts = { query: 'query: ', passage: 'passage: ' }
  const folder = writeModel({}, { 'config_sentence_transformers.json': { prompts } })
  const query = await embedOne(folder, 'car', 'query')
  const document = await embedOne(folder, 'car', 'document')
  expect(query?.[7]).toBeCloseTo(shareOf('[CLS]', 'query', ':', '[SEP]') / 5)
  expect(document?.[7]).toBeCloseTo(shareOf('[CLS]', 'passage', ':', '[SEP]') / 5)
})

it.each([
  ['config.json', { model_type: 'bert', max_position_embeddings: 6 }],
  ['config.json', { model_type: 'xlm-roberta', max_position_embeddings: 8, pad_token_id: 1 }],
  ['sentence_bert_config.json', { max_seq_length: 6 }],
  ['tokenizer_config.json', { model_max_length: 6 }],
])('a text that is too long for the model loses its end: %s %o', async (name, limits) => {
  const folder = writeModel({ places: 6 }, { [name]: limits, '1_Pooling/config.json': { pooling_mode: 'lasttoken' } })
  const long = await embedOne(folder, `car ${'ship '.repeat(300)}`)
  expect(long?.[7]).toBeCloseTo(shareOf('[SEP]'))
})

it('a text without any token has no vector', async () => {
  expect(await openEmbedder(writeModel()).embed(['', ' \n', 'car'], 'document')).toEqual([
    undefined,
    undefined,
    expect.any(Float32Array),
  ])
})

it.each(['model.onnx_data', 'model.onnx.data'])('numbers that lie beside the graph are read: %s', async (file) => {
  expect((await embedOne(writeModel({ file }), 'ship'))?.[3]).toBeCloseTo(1 / 3)
})

it('of several graphs the one of full precision in the folder onnx is used', async () => {
  const files = {
    'onnx/model_quantized.onnx': encodeModel({ dimensions: 6 }),
    'model.onnx': encodeModel({ dimensions: 7 }),
  }
  const folder = writeModel({ dimensions: 5 }, files)
  expect(await embedOne(folder, 'car')).toHaveLength(5)
  rmSync(join(folder, 'onnx/model.onnx'))
  expect(await embedOne(folder, 'car')).toHaveLength(6)
  rmSync(join(folder, 'onnx'), { recursive: true })
  expect(await embedOne(folder, 'car')).toHaveLength(7)
})

const BROKEN: readonly [string, ModelForm, Readonly<Record<string, unknown>>, RegExp][] = [
  [
    'a graph that is cut',
    {},
    { 'onnx/model.onnx': encodeModel().subarray(0, 300) },
    /model\.onnx cannot be loaded: \S/,
  ],
  ['no graph at all', {}, { 'onnx/model.onnx': Buffer.from('hello') }, /model\.onnx cannot be loaded: \S/],
  [
    'a pointer of Git LFS',
    {},
    { 'onnx/model.onnx': Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n') },
    /it is a pointer of Git LFS, whose file "git lfs pull" fetches/,
  ],
  ['a tokenizer that is none', {}, { 'tokenizer.json': Buffer.from('{}') }, /its tokenizer cannot be loaded: \S/],
  ['settings that are none', {}, { 'config.json': Buffer.from('{') }, /config\.json cannot be read: \S/],
  [
    'a limit that is none',
    {},
    { 'config.json': { max_position_embeddings: 'x' } },
    /config\.json cannot be read: .*max_position/,
  ],
  [
    'an unknown pooling',
    {},
    { '1_Pooling/config.json': { pooling_mode_max_tokens: true } },
    /config\.json wants the pooling max;/,
  ],
  [
    'a step that the graph does not contain',
    {},
    { 'modules.json': [{ path: '2_Dense', type: 'sentence_transformers.models.Dense' }] },
    /modules\.json wants "2_Dense", which the ONNX graph does not contain/,
  ],
  ['an input that is no text', { input: 'pixel_values' }, {}, /it wants more than a text: pixel_values/],
  ['vectors that hold no numbers', { strength: Number.NaN }, {}, /its vectors hold what is no number/],
  ['a vector that is too long', { dimensions: 5_000 }, {}, /its vectors have 5000 numbers/],
  ['too few places for a text', { places: 2 }, {}, /it fails with 3 tokens: \S/],
  ['no more files', {}, { 'tokenizer.json': undefined }, /the folder has no tokenizer\.json/],
]

it.each(BROKEN)('a model with %s is refused with the reason', async (_, form, files, reason) => {
  await expect(embedOne(writeModel(form, files), 'car')).rejects.toThrow(reason)
})

it('a model that fails is loaded again once its files are right', async () => {
  const folder = writeModel({}, { 'onnx/model.onnx': Buffer.from('half of it') })
  const embedder = openEmbedder(folder)
  const before = await embedder.identify()
  await expect(embedder.embed(['car'], 'document')).rejects.toThrow('cannot be loaded')
  writeFiles(folder, { 'onnx/model.onnx': encodeModel() })
  expect(await embedder.identify()).not.toBe(before)
  expect(await embedder.embed(['car'], 'document')).toEqual([expect.any(Float32Array)])
})

it.each([
  ['graph', 'onnx/model.onnx', encodeModel({ strength: 2 })],
  ['tokenizer', 'tokenizer_config.json', { do_lower_case: false }],
  ['prompts', 'config_sentence_transformers.json', { prompts: { query: 'query: ' } }],
  ['numbers beside the graph', 'onnx/model.onnx_data', Buffer.from('numbers')],
])('a model is another one when its %s changes, and the same one when nothing does', async (_, name, content) => {
  const folder = writeModel()
  const [embedder, again] = [openEmbedder(folder), openEmbedder(folder)]
  const id = await embedder.identify()
  expect(await again.identify()).toBe(id)
  writeFiles(folder, { [name]: content })
  expect(await embedder.identify()).not.toBe(id)
  expect(await embedder.identify()).toBe(await again.identify())
})

it('a folder that is gone has no model, and is looked at again', async () => {
  const folder = writeModel()
  const embedder = openEmbedder(folder)
  const id = await embedder.identify()
  rmSync(folder, { recursive: true })
  const why = 'the model of the embedder cannot be used: there is no such folder'
  await expect(embedder.identify()).rejects.toThrow(why)
  writeFiles(folder, { 'model.onnx': encodeModel() })
  await expect(embedder.identify()).rejects.toThrow('the folder has no tokenizer.json')
  expect(id).toMatch(/^onnx [0-9a-f]{64}$/)
})
