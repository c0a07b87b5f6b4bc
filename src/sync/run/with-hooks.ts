import { RootError, ShelfdError } from '../../foundation/errors.ts'
import { type RunOutcome, runOutcome, stoppedOutcome, verdictOf } from '../../rules/run-outcome.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, MirrorSettings } from '../engine.ts'

const HOOK_FAILED = 'hook-failed'

/**
 * Runs the command `before`, then the work, then the command `after`. If `before` fails, throws RootError `hook-failed` and leaves out
 * the work. `after` always runs; if it fails, the summary gets a problem.
 */
export async function withHooks(
  { hooks, signal, graceSignal, logger }: Pick<Engine, 'hooks' | 'signal' | 'graceSignal' | 'logger'>,
  { name, path }: Pick<MirrorSettings, 'name' | 'path'>,
  { summary, isDryRun }: { readonly summary: SyncSummary; readonly isDryRun: boolean },
  work: () => Promise<void>,
): Promise<void> {
  if (!hooks?.has(name)) return await work()
  const mirror = { name, path, isDryRun }
  let outcome: RunOutcome = 'failures'
  try {
    const failure = await hooks.run('before', mirror, {}, signal)
    signal.throwIfAborted()
    if (failure !== undefined) throw new RootError(HOOK_FAILED, `Cannot begin with the mirror "${name}": ${failure}`)
    await work()
    outcome = runOutcome([summary], false)
  } catch (error) {
    if (error instanceof ShelfdError) outcome = stoppedOutcome(error)
    throw error
  } finally {
    // `after` also runs when a stop was requested, because it may unmount what `before` mounted.
    const signalOfAfter = graceSignal.aborted ? AbortSignal.timeout(AFTER_COMMAND_MS) : graceSignal
    const failure = await hooks.run('after', mirror, variablesOf(summary, outcome), signalOfAfter)
    if (failure !== undefined) {
      const message = `after the run of the mirror "${name}": ${failure}`
      logger.warn('the command "after" of a mirror failed', { mirror: name, reason: failure })
      summary.problems.push({ path: '', code: HOOK_FAILED, message, retryAt: null })
    }
  }
}

/** Throws RootError `hook-failed` when the command `after` failed. */
export function throwIfHookFailed({ problems }: SyncSummary): void {
  const problem = problems.find(({ code }) => code === HOOK_FAILED)
  if (problem) throw new RootError(HOOK_FAILED, problem.message)
}

/** How long `after` may take if the grace period is already over. */
const AFTER_COMMAND_MS = 5_000

function variablesOf({ files, uploads, problems }: SyncSummary, outcome: RunOutcome): Readonly<Record<string, string>> {
  const counts = {
    SHELFD_SCANNED: files.scanned,
    SHELFD_REMOVED: files.removed,
    SHELFD_SENT: uploads.created + uploads.duplicates,
    SHELFD_HELD_BACK: uploads.heldBack,
    SHELFD_PROBLEMS: problems.length,
  }
  const numbers = Object.entries(counts).map(([name, count]) => [name, String(count)] as const)
  return { SHELFD_VERDICT: verdictOf(outcome), ...Object.fromEntries(numbers) }
}
