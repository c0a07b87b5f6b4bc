import { AccessError, UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import { didYouMean } from '../did-you-mean.ts'
import { realPathOf } from '../files/paths-on-disk.ts'
import type { Settings } from '../settings/settings.ts'
import { byActivity, explainInactive, listRoster, type RosterEntry, readRoster } from './mirror-roster.ts'

/**
 * Returns the mirrors that the words name, or the active ones. Throws UsageError `unknown-mirror` or AccessError `origin-mismatch`.
 * `isOffline` allows mirrors of other services, because the command asks no service.
 */
export function chooseKnown(
  settings: Settings,
  known: readonly MirrorRow[],
  { words, cwd, isOffline }: { readonly words: readonly string[]; readonly cwd: string; readonly isOffline: boolean },
): MirrorRow[] {
  const roster = listRoster(settings, known)
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
  const text = `The mirror "${name}" is configured and was never synced`
  return new UsageError('unknown-mirror', `${text}: "shelfd sync ${shellWord(name)}"`)
}

/** The error for a command with nothing to report: no mirror was synced, or none that is in use. */
export function nothingMirrored(known: readonly MirrorRow[] = []): UsageError {
  if (known.length > 0) {
    const text = 'Nothing to report: no mirror in use was synced yet'
    return new UsageError('unknown-mirror', `${text}; "shelfd mirrors list" says why the others are not in use`)
  }
  return new UsageError('unknown-mirror', 'Nothing was mirrored yet: see "shelfd sync --help"')
}

function findEntry(roster: readonly RosterEntry[], word: string, cwd: string): RosterEntry {
  const path = realPathOf(cwd, word)
  const entry =
    roster.find(({ name }) => name === word) ?? byActivity(roster).find((each) => realPathOf(cwd, each.path) === path)
  return entry ?? throwUnknownMirror(roster, word, ': no mirror has that name or directory')
}

/** Returns the entry of exactly this name; throws UsageError `unknown-mirror`. */
export function findByName(roster: readonly RosterEntry[], word: string): RosterEntry {
  return roster.find(({ name }) => name === word) ?? throwUnknownMirror(roster, word)
}

function throwUnknownMirror(roster: readonly RosterEntry[], word: string, why = ''): never {
  const names = roster.map(({ name }) => name)
  const meant = didYouMean(word, names) || describeKnown(names)
  throw new UsageError('unknown-mirror', `Cannot find the mirror "${word}"${why}${meant}`)
}

export function describeKnown(words: readonly string[]): string {
  return ` (known: ${[...new Set(words)].join(', ') || 'none yet'})`
}

/** Throws UsageError `unknown-mirror` for a word that names neither a configured nor a stored mirror. */
export function chooseNames(settings: Settings, words: readonly string[]): readonly string[] {
  if (words.length === 0) return words
  const roster = readRoster(settings)
  return words.map((word) => findByName(roster, word).name)
}
