import { counted } from '../foundation/text.ts'
import type { Progress } from '../sync/progress.ts'
import type { CommandContext } from './context.ts'

/** Says what becomes of a run that is asked to stop, at once: uploads under way may take a while to end. */
export function tellWhenStopped(
  context: CommandContext,
  { progress, isInDaemon }: { readonly progress: Progress; readonly isInDaemon: boolean },
): Disposable {
  const words = isInDaemon ? DAEMON_WORDS : OWN_WORDS
  const listener = (isLast: boolean) => {
    const uploading = progress.uploads.length
    const text = (isLast ? words.last : words.first)(uploading)
    // Nobody redraws any more.
    if (isLast) context.messages.clear()
    if (text !== undefined) context.tell(text, { uploading })
  }
  return context.io.onStop?.(listener) ?? { [Symbol.dispose]() {} }
}

interface StopWords {
  /** What the run still does. */
  first(uploading: number): string
  /** What is left by a process that ends now. */
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

/** The daemon goes on when its client ends. */
const DAEMON_WORDS: StopWords = {
  first: (uploading) =>
    uploading === 0
      ? 'Stopping.'
      : `Stopping: the daemon finishes ${counted(uploading, 'upload')} (Ctrl-C again ends without waiting for it)`,
  last: (uploading) => (uploading === 0 ? undefined : `The daemon finishes ${counted(uploading, 'upload')} on its own`),
}
