/** A model in a folder from the configuration to the search. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { chooseEmbedder } from '../../../src/app/service-client/choose-embedder.ts'
import { readSettingsWith } from '../../app/settings/read-settings-with.ts'
import { startLibrary } from '../temporary-library.ts'
import { search, upload } from './search-library.ts'
import { encodeModel, writeFiles, writeModel } from './write-model.ts'

const TEXTS = ['Tulips in spring.', 'The surgeon earns high wages.', 'A vessel in the harbour.']
const QUESTION = 'how much do they pay a physician'

/** A library with the embedder of this configuration. */
function startWith(folder: string) {
  const { embedder } = readSettingsWith({ yaml: `embedder: {folder: ${JSON.stringify(folder)}}` })
  return startLibrary({ embedder: chooseEmbedder(embedder, { add() {} }), embedding: { calmMs: 0 } })
}

function storedDimensions(dataDir: string): readonly unknown[] {
  using stack = new DisposableStack()
  const database = stack.adopt(new Database(join(dataDir, 'library.sqlite'), { readonly: true }), (open) =>
    open.close(),
  )
  return database.prepare('SELECT dimensions FROM chunk_vectors ORDER BY resource_id').pluck().all()
}

it('a model in a configured folder finds the document that means the same', async () => {
  const { client, library } = await startWith(writeModel())
  const [, surgeon] = await upload(client, await client.createLibrary(), TEXTS)
  await library.settled()
  const { ids, notice } = await search(client, QUESTION)
  expect(ids[0]).toBe(surgeon)
  expect(notice).toContain('a similar meaning')
})

it('a model that changes amid the work makes all vectors anew', async () => {
  const folder = writeModel()
  const { client, library, dataDir } = await startWith(folder)
  const [, surgeon] = await upload(client, await client.createLibrary(), TEXTS)
  await library.settled()
  expect(storedDimensions(dataDir)).toEqual([8, 8, 8])
  writeFiles(folder, { 'onnx/model.onnx': encodeModel({ dimensions: 6 }) })
  await search(client, QUESTION)
  await library.settled()
  expect(storedDimensions(dataDir)).toEqual([6, 6, 6])
  expect((await search(client, QUESTION)).ids[0]).toBe(surgeon)
})

it('a model that fails holds up no upload and no search, and the notice says why', async () => {
  const folder = writeModel({}, { 'onnx/model.onnx': encodeModel().subarray(0, 300) })
  const { client } = await startWith(folder)
  const [, surgeon] = await upload(client, await client.createLibrary(), TEXTS)
  const broken = await search(client, 'wages of zoologists')
  expect(broken.ids).toEqual([surgeon])
  expect(broken.notice).toContain(
    'Only terms were matched: the model of the embedder failed: model.onnx cannot be loaded',
  )
  rmSync(folder, { recursive: true })
  expect((await search(client, 'wages of zoologists')).notice).toContain(
    'Only terms were matched: the model of the embedder cannot be used: there is no such folder.',
  )
})
