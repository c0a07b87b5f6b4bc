import { escapeText, truncateText } from '../../foundation/text.ts'
import { formatDuration, formatSize } from '../../foundation/units.ts'
import type { Progress } from '../../sync/progress.ts'
import type { CommandContext } from '../context.ts'

const REDRAW_MS = 100
const PLAIN_LINE_MS = 10_000

/** Shows the progress of `work` on stderr: one line redrawn on a terminal, a plain line now and then elsewhere. */
export async function withProgress<T>(context: CommandContext, progress: Progress, work: () => Promise<T>): Promise<T> {
  const { stderr, isTerminal } = context.io
  if (context.quiet) return work()
  const started = performance.now()
  const draw = isTerminal.stderr
    ? () =>
        stderr.write(
          `\r\x1b[2K${truncateText(describeProgress(progress, performance.now() - started), widthOf(stderr))}`,
        )
    : () => stderr.write(`${describeProgress(progress, performance.now() - started)}\n`)
  const timer = setInterval(draw, isTerminal.stderr ? REDRAW_MS : PLAIN_LINE_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (isTerminal.stderr) stderr.write('\r\x1b[2K')
  }
}

/** One line: what is going on, how far it is, how fast, and about how long it still takes. */
function describeProgress(progress: Progress, elapsedMs: number): string {
  const parts = [escapeText(progress.mirror), ...describePhase(progress, elapsedMs), formatDuration(elapsedMs)]
  return parts.filter((part) => part !== '').join(' · ')
}

function describePhase(progress: Progress, elapsedMs: number): string[] {
  switch (progress.phase) {
    case 'starting':
      return ['starting']
    case 'scanning': {
      const rate = formatSize(Math.round((progress.bytesHashed / elapsedMs) * 1_000))
      const hashed = progress.filesHashed === 0 ? '' : `${progress.filesHashed} hashed at ${rate}/s`
      return ['scanning', `${progress.filesScanned} files`, hashed]
    }
    case 'directories':
      return ['making directories', `${progress.directoriesDone}/${progress.directoriesTotal}`]
    case 'uploading':
      return describeUpload(progress, elapsedMs)
    case 'ingestion':
      return ['ingestion', `${progress.inIngestion} pending`, `${progress.searchable} searchable`]
    case 'finished':
      return ['finishing']
  }
}

function describeUpload(progress: Progress, elapsedMs: number): string[] {
  const { contentsSent, contentsTotal, bytesSent, bytesTotal, inIngestion, searchable } = progress
  const rate = bytesSent / Math.max(1, elapsedMs)
  const left = rate > 0 && bytesTotal > bytesSent ? `about ${formatDuration((bytesTotal - bytesSent) / rate)} left` : ''
  return [
    'uploading',
    `${contentsSent}/${contentsTotal} contents`,
    `${formatSize(bytesSent)} of ${formatSize(bytesTotal)}`,
    `${formatSize(Math.round(rate * 1_000))}/s`,
    left,
    `${inIngestion} in ingestion, ${searchable} searchable`,
  ]
}

function widthOf(stream: NodeJS.WritableStream): number {
  return 'columns' in stream && typeof stream.columns === 'number' ? stream.columns : 80
}
