import { counted } from '../../../foundation/text/safe-text.ts'
import type { Progress } from '../../../sync/progress.ts'
import type { CommandContext } from '../../context.ts'

/** Reports a request to stop at once, because uploads in flight may take a while to end. */
export function announceStop(
  context: CommandContext,
  { progress, isInDaemon }: { readonly progress: Progress; readonly isInDaemon: boolean },
): Disposable {
  const words = isInDaemon ? DAEMON_WORDS : OWN_WORDS
  const listener = (isLast: boolean) => {
    const uploading = progress.uploads.length
    const text = (isLast ? words.last : words.first)(uploading)
    // The process ends now, so the drawn line is removed.
    if (isLast) context.messages.clear()
    if (text !== undefined) context.announce(text, { uploading })
  }
  return context.io.onStop?.(listener) ?? { [Symbol.dispose]() {} }
}

interface StopWords {
  /** What the run still does after the first request. */
  first(uploading: number): string
  /** What a process that ends now leaves behind. */
  last(uploading: number): string | undefined
}

const OWN_WORDS: StopWords = {
  first: (uploading) =>
    uploading === 0
      ? 'Stopping.'
      : `Stopping: finishing ${counted(uploading, 'upload')} (Ctrl-C again ends now; what is unfinished is checked next time)`,
  last: (uploading) => {
    if (uploading === 0) return undefined
    const [uploads, they] = uploading === 1 ? ['upload was', 'it'] : ['uploads were', 'they']
    return `${uploading} ${uploads} cut: it is not known whether ${they} arrived; the next run looks`
  },
}

/** The daemon continues when its client ends. */
const DAEMON_WORDS: StopWords = {
  first: (uploading) =>
    uploading === 0
      ? 'Stopping.'
      : `Stopping: the daemon finishes ${counted(uploading, 'upload')} (Ctrl-C again ends without waiting for it)`,
  last: (uploading) => (uploading === 0 ? undefined : `The daemon finishes ${counted(uploading, 'upload')} on its own`),
}
