import type { Logger } from '../../foundation/logger.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import type { RunSummary } from '../../rules/sync-summary.ts'
import type { Progress } from '../../sync/progress.ts'
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
    // Removes the progress line, since the process ends now.
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

/** After a dry run without -v. */
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
    wouldSend: (file) => write(`  would send  ${describe(file)}`, file),
    sent: (file) => write(`  sent  ${describe(file)} → ${describeResource(file)}`, file),
  }
}

function describe({ path, sizeBytes }: DryRunFile): string {
  return `${escapeText(path)} (${formatSize(sizeBytes)})`
}

function describeResource({ resourceId, isDuplicate }: SentFile): string {
  return isDuplicate ? `${escapeText(resourceId)}, which the library had already` : escapeText(resourceId)
}
