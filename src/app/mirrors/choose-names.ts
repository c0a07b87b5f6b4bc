import { openStoreReader } from '../../store/open-store.ts'
import type { Settings } from '../settings/settings.ts'
import { findByName } from './choose-known.ts'
import { listRoster } from './mirror-roster.ts'

/** Returns the words if each names a mirror that is configured or in the store; throws UsageError `unknown-mirror`. */
export function chooseNames(settings: Settings, words: readonly string[]): readonly string[] {
  if (words.length === 0) return words
  using store = openStoreReader(settings.stateDir)
  const roster = listRoster(settings, store?.mirrors.list() ?? [])
  return words.map((word) => findByName(roster, word).name)
}
