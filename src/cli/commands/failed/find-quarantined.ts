import { chooseByPath } from '../../../app/mirrors/choose-known.ts'
import { UsageError } from '../../../foundation/errors.ts'
import { isWithin } from '../../../foundation/files/paths.ts'
import { openStoreReader, type StoreReader } from '../../../store/open-store.ts'
import { listQuarantine, type Quarantined } from '../../../sync/quarantine.ts'
import type { CommandContext } from '../../context.ts'

/** The positional words that name quarantined contents. */
export const QUARANTINED = {
  type: 'string',
  array: true,
  describe: 'Files, directories, or beginnings of a SHA-256',
  placeholder: 'PATH|SHA256',
} as const

/** The shortest accepted prefix of a SHA-256. */
const MIN_PREFIX = 6

/** All contents in quarantine; empty when nothing was ever mirrored. */
export function readQuarantine({ settings }: CommandContext): Quarantined[] {
  using store = openStoreReader(settings.stateDir)
  return store ? listQuarantine(store) : []
}

/** Contents that the words name: files, directories with all below, prefixes of a SHA-256. Throws UsageError for others. */
export function findQuarantined(context: CommandContext, words: readonly string[]): Quarantined[] {
  using store = openStoreReader(context.settings.stateDir)
  const contents = store ? listQuarantine(store) : []
  const found = new Set(words.flatMap((word) => findByWord(context, store, contents, word)))
  return contents.filter((content) => found.has(content))
}

function findByWord(
  { io, settings }: CommandContext,
  store: StoreReader | undefined,
  contents: readonly Quarantined[],
  word: string,
): Quarantined[] {
  const bySha256 = isPrefix(word) ? contents.filter(({ sha256 }) => sha256.startsWith(word.toLowerCase())) : []
  if (bySha256.length > 0) return bySha256
  const { row, path } = chooseByPath(settings, store?.mirrors.list() ?? [], { word, cwd: io.cwd })
  const byPath = contents.filter(({ files }) =>
    files.some((file) => file.mirror === row.name && isWithin(path, file.path)),
  )
  if (byPath.length > 0) return byPath
  throw new UsageError('bad-usage', `Cannot find "${word}" in the quarantine; "shelfd failed list" shows what is in it`)
}

function isPrefix(word: string): boolean {
  return word.length >= MIN_PREFIX && /^[0-9a-f]{1,64}$/i.test(word)
}
