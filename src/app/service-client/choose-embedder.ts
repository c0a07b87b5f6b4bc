import type { EmbedderChoice } from '../../embedded/embedding/semantics.ts'
import { UsageError } from '../../foundation/errors.ts'
import type { Redactor } from '../../foundation/text/redaction.ts'
import { assertPrivate, readRequired } from '../files/private-files.ts'
import type { EmbedderSettings } from '../settings/settings.ts'

/** Returns the embedder with the key that it reads from the key file. Throws UsageError. */
export function chooseEmbedder(embedder: EmbedderSettings, redactor: Pick<Redactor, 'add'>): EmbedderChoice {
  if (embedder.kind !== 'endpoint') return embedder
  const { kind, model, keyFile } = embedder
  const url = embedder.url.endsWith('/embeddings') ? embedder.url : `${embedder.url}/embeddings`
  const key = keyFile === undefined ? undefined : readKey(keyFile)
  if (key !== undefined) redactor.add(key)
  return { kind, url, model, key }
}

function readKey(file: string): string {
  const found = readRequired(file, (why) => unusable(file, why))
  assertPrivate(file, found)
  const key = found.text.trim()
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw unusable(file, 'it must hold the key on one line, without spaces')
}

function unusable(file: string, why: string): UsageError {
  return new UsageError('bad-configuration', `Cannot read the key of the embedder from "${file}": ${why}`)
}
