import { dirname, join } from 'node:path'
import type { Runner } from '../../app/open-runner.ts'
import { withTilde } from '../../foundation/files/home.ts'
import type { Logger } from '../../foundation/logger.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { inspectRoot } from '../../local/read/open-and-recheck-root.ts'
import { sizeOnDisk } from '../../local/read/size-on-disk.ts'
import type { RunSummary, SyncSummary } from '../../rules/sync-summary.ts'
import type { Progress } from '../../sync/progress.ts'
import { suggestSearch } from '../../sync/report/verify-search.ts'
import { type DryRunFile, FAILED_AGAIN, type FileLog, type SentFile, silentFileLog } from '../../sync/sinks.ts'
import type { CommandContext } from '../context.ts'

export function announceStop(
  context: CommandContext,
  { progress, isInDaemon }: { readonly progress: Progress; readonly isInDaemon: boolean },
): Disposable {
  const messages = isInDaemon ? DAEMON_MESSAGES : OWN_MESSAGES
  const listener = (isLast: boolean) => {
    const uploading = progress.uploads.length
    const text = isLast
      ? messages.last(uploading)
      : messages.first(uploading) + (isInDaemon ? '' : ` ${describeRest(progress)}`)
    // The process ends now, so the progress line is removed.
    if (isLast) context.messages.clear()
    if (text !== undefined) context.announce(text, { uploading })
  }
  return context.io.onStop?.(listener) ?? { [Symbol.dispose]() {} }
}

function describeRest({ phase, contentsTotal, contentsSent, uploads }: Progress): string {
  if (phase === 'embedding') return 'Everything is searchable by words.'
  const left = contentsTotal - contentsSent - uploads.length
  if (left <= 0) return 'The same command goes on from here.'
  return `${counted(left, 'file is', 'files are')} left; the same command goes on from here.`
}

interface StopMessages {
  first(uploading: number): string
  last(uploading: number): string | undefined
}

const OWN_MESSAGES: StopMessages = {
  first: (uploading) =>
    uploading === 0
      ? 'Stopping.'
      : `Stopping: finishing ${counted(uploading, 'upload')} (Ctrl-C again ends now; what is unfinished is checked next time).`,
  last: (uploading) => {
    if (uploading === 0) return undefined
    const [uploads, they] = uploading === 1 ? ['upload was', 'it'] : ['uploads were', 'they']
    return `${uploading} ${uploads} cut: it is not known whether ${they} arrived; the next run looks`
  },
}

/** The daemon continues when its client ends. */
const DAEMON_MESSAGES: StopMessages = {
  first: (uploading) =>
    uploading === 0
      ? 'Stopping.'
      : `Stopping: the daemon finishes ${counted(uploading, 'upload')} (Ctrl-C again ends without waiting for it)`,
  last: (uploading) => (uploading === 0 ? undefined : `The daemon finishes ${counted(uploading, 'upload')} on its own`),
}

/** Names each file on stderr with -v, also in a dry run. With a JSON log these lines are JSON. */
export function nameFiles(context: CommandContext): FileLog {
  const { verbosity, quiet } = context
  if (quiet || verbosity === 0) return silentFileLog
  return context.logFormat === 'json' ? jsonLines(context) : textLines(context)
}

/** A text log has repeated failures only with -v, because the summary reports them. */
export function logOfRun({ logger, logFormat }: CommandContext): Logger {
  if (logFormat === 'json') return logger
  return {
    ...logger,
    warn: (message, fields) => logger[message === FAILED_AGAIN ? 'debug' : 'warn'](message, fields),
  }
}

/** Says, after a dry run without -v, that -v names the files. */
export function announceHowToNameFiles({ json, verbosity, announce }: CommandContext, { mirrors }: RunSummary): void {
  const files = mirrors.reduce((sum, { uploads }) => sum + uploads.created, 0)
  if (files === 0 || json || verbosity > 0) return
  announce(files === 1 ? '-v names this file' : `-v names each of these ${counted(files, 'file')}`)
}

function jsonLines({ logger }: CommandContext): FileLog {
  return {
    wouldSend: ({ sizeBytes: bytes, ...file }) => logger.debug('would send', { ...file, bytes }),
    sent: ({ sizeBytes: bytes, isDuplicate, ...file }) =>
      logger.debug('sent', { ...file, bytes, duplicate: isDuplicate }),
  }
}

function textLines({ printMessage }: CommandContext): FileLog {
  let heading = ''
  const write = (line: string, { mirror }: DryRunFile) => {
    if (mirror !== heading) printMessage(`${escapeText(mirror)}:`)
    heading = mirror
    printMessage(line)
  }
  return {
    wouldSend: (file) => write(`  would send  ${describeFile(file)}`, file),
    sent: (file) => write(`  sent  ${describeFile(file)} → ${describeResource(file)}`, file),
  }
}

function describeFile({ path, sizeBytes }: DryRunFile): string {
  return `${escapeText(path)} (${formatSize(sizeBytes)})`
}

function describeResource({ resourceId, isDuplicate }: SentFile): string {
  return isDuplicate ? `${escapeText(resourceId)}, which the library had already` : escapeText(resourceId)
}

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
    const stored = new Set(runner.storedMirrors.map(({ name }) => name))
    const isSilent = context.quiet || context.json
    const isFirst = ({ name, path }: { readonly name: string; readonly path: string }) =>
      !stored.has(name) && isReadable(runner, path)
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

  /** True when `npm start` runs this command. Other commands do not see its state. */
  get #isCheckout(): boolean {
    const { env } = this.#context.io
    return env.npm_lifecycle_event === 'start' && env.npm_package_name === 'shelfd'
  }

  /** True for the project's own pages, which `npm start` mirrors if no directory is named. */
  #isOfCheckout({ path }: SyncSummary): boolean {
    return path === join(dirname(this.#context.io.env.npm_package_json ?? ''), 'docs')
  }

  /** These variables may be set for this command alone. Then a suggested command would not use the same state. */
  get #isElsewhere(): boolean {
    const { SHELFD_STATE_DIR, SHELFD_DATA_DIR, SHELFD_CONFIG } = this.#context.io.env
    return [SHELFD_STATE_DIR, SHELFD_DATA_DIR, SHELFD_CONFIG].some(Boolean)
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
