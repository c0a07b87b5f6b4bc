import { AccessError, UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { didYouMean } from '../did-you-mean.ts'
import { realPathOf } from '../files/paths-on-disk.ts'
import type { Settings } from '../settings/settings.ts'
import { explainInactive, listRoster, type RosterEntry, readRoster, sortByActivity } from './mirror-roster.ts'

/**
 * Returns the stored mirrors that the words name; without words, the active ones. `isOffline`: the command asks no service, so mirrors
 * of other services are allowed. Throws UsageError `unknown-mirror` or AccessError `origin-mismatch`.
 */
export function chooseStored(
  settings: Settings,
  storedMirrors: readonly MirrorRow[],
  { words, cwd, isOffline }: { readonly words: readonly string[]; readonly cwd: string; readonly isOffline: boolean },
): MirrorRow[] {
  const roster = listRoster(settings, storedMirrors)
  if (words.length === 0) return roster.flatMap(({ row, activity }) => (row && activity === 'active' ? [row] : []))
  return words.map((word) => {
    const entry = findEntry(roster, word, cwd)
    if (!entry.row) throw neverSynced(entry.name)
    if (entry.activity === 'other-service' && !isOffline) {
      throw new AccessError('origin-mismatch', explainInactive(entry) ?? '')
    }
    return entry.row
  })
}

export function neverSynced(name: string): UsageError {
  const text = `The mirror "${name}" is configured, but was never synced`
  return new UsageError('unknown-mirror', `${text}; run "shelfd sync ${shellWord(name)}"`)
}

/** Returns the error for a command that has nothing to report, because no mirror was synced, or none that is in use. */
export function nothingMirrored(storedMirrors: readonly MirrorRow[] = []): UsageError {
  if (storedMirrors.length > 0) {
    const text = 'Nothing to report: no mirror in use was synced yet'
    return new UsageError('unknown-mirror', `${text}; "shelfd mirrors list" says why the others are not in use`)
  }
  return new UsageError('unknown-mirror', 'Nothing was mirrored yet: see "shelfd sync --help"')
}

function findEntry(roster: readonly RosterEntry[], word: string, cwd: string): RosterEntry {
  const path = realPathOf(cwd, word)
  const named = roster.find(({ name }) => name === word)
  const entry = named ?? sortByActivity(roster).find((each) => realPathOf(cwd, each.path) === path)
  return entry ?? throwUnknownMirror(roster, word, ': no mirror has that name or directory')
}

/** Returns the entry of exactly this name; throws UsageError `unknown-mirror`. */
export function findByName(roster: readonly RosterEntry[], word: string): RosterEntry {
  return roster.find(({ name }) => name === word) ?? throwUnknownMirror(roster, word)
}

function throwUnknownMirror(roster: readonly RosterEntry[], word: string, why = ''): never {
  const names = roster.map(({ name }) => name)
  const meant = didYouMean(word, names) || mirrorsInParentheses(names)
  throw new UsageError('unknown-mirror', `Cannot find the mirror "${word}"${why}${meant}`)
}

export function mirrorsInParentheses(mirrors: readonly string[]): string {
  return ` (mirrors: ${[...new Set(mirrors)].join(', ') || 'none yet'})`
}

/** Returns the words; throws UsageError `unknown-mirror` if one is the name of neither a configured nor a stored mirror. */
export function chooseNames(settings: Settings, words: readonly string[]): readonly string[] {
  if (words.length === 0) return words
  const roster = readRoster(settings)
  return words.map((word) => findByName(roster, word).name)
}
