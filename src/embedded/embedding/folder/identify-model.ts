import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { sha256Of } from '../../../foundation/files/sha256-of.ts'
import { findModelFiles } from './model-files.ts'

/** What a model is, by the bytes of its files. */
export interface ModelIdentity {
  /** Equal for two models only if all their files are. */
  readonly id: string
  /** Sizes, times and inodes: as long as they are equal, the files are not read again. */
  readonly stamp: string
}

/** Reads the files of the model in `folder`, unless nothing has changed since `known`. Throws as `findModelFiles`, or of a file. */
export async function identifyModel(folder: string, known: ModelIdentity | undefined): Promise<ModelIdentity> {
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
