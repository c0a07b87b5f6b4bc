import { globSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import { missingPackages } from '../optional-packages.ts'

/** The files of a model in a folder as Hugging Face has it; all paths are absolute. */
export interface ModelFiles {
  /** The ONNX graph. */
  readonly graph: string
  /** Numbers of the graph that lie beside it, because an ONNX file holds 2 GiB at most. */
  readonly externalData: readonly string[]
  readonly tokenizer: string
  /** All JSON files in the folder and in the folders of its modules: each may decide how texts become vectors. */
  readonly settings: readonly string[]
}

/** The first that is there wins. */
const GRAPHS = ['onnx/model.onnx', 'onnx/model_quantized.onnx', 'model.onnx']
const TOKENIZER = 'tokenizer.json'
const PACKAGES = ['onnxruntime-web', '@huggingface/tokenizers']

/** Finds the files of the model in `folder`. Throws an Error whose message completes "Cannot use the model: …". */
export function findModelFiles(folder: string): ModelFiles {
  if (!isThere(folder)) throw new Error('there is no such folder')
  const graph = GRAPHS.map((name) => join(folder, name)).find(isThere)
  if (graph === undefined) throw new Error(`the folder has none of ${GRAPHS.join(', ')}`)
  const tokenizer = join(folder, TOKENIZER)
  if (!isThere(tokenizer)) throw new Error(`the folder has no ${TOKENIZER}`)
  const place = dirname(graph)
  // Both ways to name them are in use: model.onnx_data, model.onnx_data_1 and model.onnx.data.
  const externalData = globSync(`${basename(graph)}{_,.}data*`, { cwd: place }).map((name) => join(place, name))
  const settings = globSync(['*.json', '*/*.json'], { cwd: folder }).map((name) => join(folder, name))
  return { graph, externalData: externalData.sort(), tokenizer, settings: settings.sort() }
}

/** Throws an Error, whose message completes "Cannot use the model: …", if a package is missing that computes with models. */
export function requirePackages(): void {
  const missing = missingPackages(PACKAGES)
  if (missing.length === 0) return
  throw new Error(`it needs packages that are not installed: "npm install -g ${PACKAGES.join(' ')}"`)
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw new Error(`"${path}" cannot be read (${systemCodeOf(error)})`)
  }
}
