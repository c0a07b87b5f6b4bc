import { UsageError } from '../foundation/errors.ts'
import { openStoreReader } from '../store/open-store.ts'
import type { Settings } from './settings/settings.ts'

/** The words, if each is the name of a mirror that is configured or was mirrored; throws UsageError `unknown-mirror`. */
export function chooseNames({ mirrors, stateDir }: Settings, words: readonly string[]): readonly string[] {
  if (words.length === 0) return words
  const names = new Set([...mirrors.map(({ name }) => name), ...listKnownNames(stateDir)])
  const unknown = words.find((word) => !names.has(word))
  if (unknown === undefined) return words
  const known = [...names].join(', ') || 'none yet'
  throw new UsageError('unknown-mirror', `No mirror is called "${unknown}" (known: ${known})`)
}

function listKnownNames(stateDir: string): string[] {
  using store = openStoreReader(stateDir)
  return store?.mirrors.list().map(({ name }) => name) ?? []
}
