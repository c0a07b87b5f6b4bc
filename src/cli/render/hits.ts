import { basename } from 'node:path'
import { kindOf } from '../../contract/kinds.ts'
import { withTilde } from '../../foundation/files/home.ts'
import { counted, escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { formatDay, formatDayAndTime } from '../../foundation/text/times.ts'
import { formatSize } from '../../foundation/text/units.ts'
import type { HitFacts, HitVersion } from '../../rules/search-filter.ts'
import type { FilteredHit } from '../../sync/filtered-search.ts'
import type { CommandContext } from '../context.ts'

const MAX_EXCERPT = 400
const INDENT = '   '

/** What is said of a hit, with its last file, if that is known. */
const VERSIONS: Readonly<Record<HitVersion, (file: string) => string>> = {
  current: (file) => (file === '' ? '' : `moved from ${file}`),
  waiting: (file) => `! ${file} has changed, and its present text cannot be found yet`,
  earlier: (file) => (file === '' ? '^ an earlier version' : `^ an earlier version of ${file}`),
  gone: (file) => `^ its file is gone: ${file}`,
  'left-out': (file) => `^ its file is left out now: ${file}`,
}

/** Prints a hit: where its file is today, what is known of it, its place in the library, and the best excerpt. */
export function printHit({ title, resource, facts }: FilteredHit, number: number, context: CommandContext): void {
  const { printText: print, io, verbosity } = context
  const line = (text: string, style?: 'quiet' | 'heading') => void print(INDENT + escapeText(text), style)
  const path = (absolute: string) => withTilde(io.home, absolute)
  const [file] = facts.files
  const name = file === undefined || basename(file) !== title ? title : path(file)
  print(escapeText(`${number}  ${name}`), 'heading')
  if (file !== undefined && name === title) line(path(file))
  line(describeFacts(facts, libraryPlace(resource)), 'quiet')
  const version = VERSIONS[facts.version](facts.formerFile === null ? '' : path(facts.formerFile))
  if (version !== '') line(version)
  const [shown] = (resource.assets ?? []).filter((asset) => asset.excerpt ?? asset.text)
  const excerpt = shown?.excerpt ?? shown?.text
  if (excerpt) print(INDENT + escapeText(truncateText(excerpt.replace(/\s+/g, ' '), MAX_EXCERPT)), 'excerpt')
  const { earlier } = facts
  if (earlier) line(`${counted(earlier.count, 'earlier version')}, newest ${formatDay(earlier.newestMs)}`, 'quiet')
  if (verbosity > 0) line(`resource ${resource.id}`, 'quiet')
}

/** `PDF, 1.2 MiB, changed 2026-01-31 14:05 · Research:/Papers/sails.pdf`. */
function describeFacts({ mime, sizeBytes, dateMs, files }: HitFacts, place: string): string {
  const date = dateMs === null ? undefined : `${files.length === 0 ? 'added' : 'changed'} ${formatDayAndTime(dateMs)}`
  const kind = mime === null ? undefined : kindOf(mime)
  const size = sizeBytes === null ? undefined : formatSize(sizeBytes)
  const known = [kind, size, date].filter((each) => each !== undefined).join(', ')
  return [known, place].filter((each) => each !== '').join(' · ')
}

function libraryPlace({ library, paths = [] }: FilteredHit['resource']): string {
  const { name } = (library ?? {}) as { readonly name?: unknown }
  const [path = ''] = paths
  return typeof name === 'string' ? `${name}:${path}` : path
}
