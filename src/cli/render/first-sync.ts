import { dirname, join } from 'node:path'

import type { Runner } from '../../app/open-runner.ts'
import { withTilde } from '../../foundation/files/home.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { inspectRoot } from '../../local/read/open-and-recheck-root.ts'
import { sizeOnDisk } from '../../local/read/size-on-disk.ts'
import type { RunSummary, SyncSummary } from '../../rules/sync-summary.ts'
import { suggestSearch } from '../../sync/report/verify-search.ts'
import type { CommandContext } from '../context.ts'

/** Messages of a mirror's first sync: its destination, its size, and what to try next. */
export class FirstSync {
  readonly #context: CommandContext
  readonly #runner: Runner
  readonly #names: readonly string[]

  constructor(
    context: CommandContext,
    runner: Runner,
    mirrors: readonly { readonly name: string; readonly path: string }[],
  ) {
    this.#context = context
    this.#runner = runner
    const known = new Set(runner.storedMirrors.map(({ name }) => name))
    const isSilent = context.quiet || context.json
    const isFirst = ({ name, path }: { readonly name: string; readonly path: string }) =>
      !known.has(name) && isReadable(runner, path)
    this.#names = isSilent ? [] : mirrors.filter(isFirst).map(({ name }) => name)
  }

  begin(isDryRun: boolean): void {
    const { announce } = this.#context
    if (this.#names.length === 0 || !this.#isEmbedded) return
    announce(describeDestination(this.#names, this.#library, isDryRun))
  }

  async end({ mirrors, dryRun }: RunSummary): Promise<void> {
    const hasSent = ({ uploads }: SyncSummary) => uploads.created + uploads.duplicates > 0
    const first = mirrors.find((mirror) => this.#names.includes(mirror.name) && hasSent(mirror))
    if (!first || dryRun) return
    const { announce } = this.#context
    const report = this.#runner.reportContext()
    const hasNext = this.#isCheckout || !this.#isElsewhere
    // A search in a configured service may cost money, so only the embedded library is searched.
    const query = this.#isEmbedded && hasNext ? await suggestSearch(report, first.name) : undefined
    if (this.#isEmbedded) {
      await report.service.disconnect()
      announce(describeDiskUsage(sizeOnDisk(report.fs, this.#library.directory), this.#library))
    }
    if (!hasNext) return
    if (this.#isCheckout) announce(describeNextInCheckout(query, !this.#isOfCheckout(first)))
    else announce(describeNext(query, this.#runner.isInDaemon))
  }

  /** `npm start` runs this, whose state other commands do not see. */
  get #isCheckout(): boolean {
    const { env } = this.#context.io
    return env.npm_lifecycle_event === 'start' && env.npm_package_name === 'shelfd'
  }

  /** The project's own pages, which `npm start` mirrors without a directory. */
  #isOfCheckout({ path }: SyncSummary): boolean {
    return path === join(dirname(this.#context.io.env.npm_package_json ?? ''), 'docs')
  }

  get #isElsewhere(): boolean {
    const { io, config, settingFlags } = this.#context
    const { SHELFD_STATE_DIR, SHELFD_DATA_DIR, SHELFD_CONFIG } = io.env
    return [config, settingFlags['state-dir'], SHELFD_STATE_DIR, SHELFD_DATA_DIR, SHELFD_CONFIG].some(Boolean)
  }

  get #isEmbedded(): boolean {
    return this.#context.settings.service.kind === 'embedded'
  }

  get #library() {
    const { settings, io } = this.#context
    return { directory: settings.service.dataDir, home: io.home }
  }
}

/** Nothing is sent from unreadable directories, so no destination is named. */
function isReadable(runner: Runner, path: string): boolean {
  try {
    inspectRoot(runner.reportContext().fs, path)
    return true
  } catch {
    return false
  }
}

const MAX_NAMES = 3

interface Library {
  readonly directory: string
  readonly home: string
}

function describeDestination(mirrors: readonly string[], library: Library, isDryRun: boolean): string {
  const names = mirrors.map(escapeText)
  const [last = ''] = names.slice(-1)
  const who =
    names.length > MAX_NAMES
      ? counted(names.length, 'directory', 'directories')
      : [names.slice(0, -1).join(', '), last].filter((part) => part !== '').join(' and ')
  const goes = isDryRun ? 'would go' : names.length === 1 ? 'goes' : 'go'
  return `No service is configured: ${who} ${goes} into the library on this computer\n(${shownDirectory(library)}). Nothing leaves it.`
}

function describeDiskUsage(sizeBytes: number, library: Library): string {
  return `The library takes ${formatSize(sizeBytes)} on this computer (${shownDirectory(library)}).`
}

function describeNext(query: string | undefined, hasDaemon: boolean): string {
  const commands = [`search ${query === undefined ? 'WORDS' : `"${query}"`}`, 'report', hasDaemon ? 'status' : 'daemon']
  return `Next: ${commands.map((command) => `shelfd ${command}`).join(' · ')}`
}

/** `isOwnDirectory`: the user named a directory. */
function describeNextInCheckout(query: string | undefined, isOwnDirectory: boolean): string {
  const search = `search ${query === undefined ? 'WORDS' : `"${query}"`}`
  return `Next: shelfd ${search} · ${isOwnDirectory ? 'shelfd dashboard' : 'npm start -- DIR (a directory of yours)'}`
}

function shownDirectory({ directory, home }: Library): string {
  return escapeText(withTilde(home, directory))
}
