import type { EmbeddingProgress } from '../../embedded/embedding/embedding-stage.ts'
import { orAbort } from '../../foundation/concurrency/waits.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import type { Progress } from '../../sync/progress.ts'
import type { CommandContext } from '../context.ts'
import { withProgress } from './progress-line.ts'

type EmbedFor = (forMs: number) => Promise<EmbeddingProgress | undefined>

/** How long one call embeds; the progress shows what each call did. */
const STEP_MS = 250

/**
 * Embeds the documents of the library on this computer, for at most `limitMs` or until the signal is aborted. Returns how far it came;
 * undefined where another process holds the library.
 */
export async function embedDocuments(
  context: CommandContext,
  progress: Progress,
  embedFor: EmbedFor,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<EmbeddingProgress | undefined> {
  let state = await embedFor(0)
  if (!state || state.isDone) return state
  Object.assign(progress, { phase: 'embedding', mirror: '', documentsToEmbed: state.missing })
  const endMs = performance.now() + limitMs
  await withProgress(context, progress, async () => {
    while (state && !state.isDone && state.failure === undefined && performance.now() < endMs) {
      state = await orAbort(embedFor(STEP_MS), signal).catch((error: unknown) => {
        if (!signal.aborted) throw error
        return state && { ...state, failure: 'stopped' }
      })
      const missing = state?.missing ?? 0
      // More documents lack vectors than before once those of another model are removed.
      progress.documentsToEmbed = Math.max(progress.documentsToEmbed, missing)
      progress.documentsEmbedded = progress.documentsToEmbed - missing
    }
  })
  return state
}

/** The message about documents that have no vectors yet. */
export function describeMissing({ missing, failure }: EmbeddingProgress): string {
  const later = 'compared by meaning once the daemon runs, or with "shelfd library embed".'
  const left = `${counted(missing, 'document is', 'documents are')} ${later}`
  return failure === undefined ? left : `Embedding ended early: ${failure}. ${left}`
}
