import type { OutageListener } from '../remote/policies/outage.ts'
import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import { pauseMirrors, resumeMirrors } from '../sync/operator/pause-mirrors.ts'
import { CAREFUL_PASS } from '../sync/pass.ts'
import { silentFileLog } from '../sync/sinks.ts'
import { changeStore } from './change-store.ts'
import { chooseNames } from './mirrors/choose-known.ts'
import { askMounts, chooseMirrors } from './mirrors/choose-mirrors.ts'
import { openRunner, type Runner } from './open-runner.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import type { Settings } from './settings/settings.ts'

export interface MirrorActionsInput extends OpenServiceInput {
  readonly stateDir: string
  settings(): Settings
  onRun?(runner: Runner | null): Promise<void>
}

/** Actions of people elsewhere than on this host's command line; no names mean all mirrors. */
export function mirrorActions(input: MirrorActionsInput) {
  const change = (ask: 'pause' | 'resume', make: typeof pauseMirrors) => async (words: readonly string[]) => {
    const names = chooseNames(input.settings(), words)
    await changeStore(input.stateDir, { ask: (daemon) => daemon[ask](names), make: (store) => make(store, names) })
  }
  return {
    pause: change('pause', pauseMirrors),
    resume: change('resume', resumeMirrors),
    /** Resolves at the end of the run. `onOutage` receives what it waits for. */
    sync: (names: readonly string[], signal: AbortSignal, onOutage?: OutageListener) =>
      sync({ ...input, ...(onOutage && { onOutage }) }, names, signal),
  }
}

async function sync(input: MirrorActionsInput, names: readonly string[], signal: AbortSignal): Promise<void> {
  const settings = input.settings()
  const { cwd, home } = input
  await input.onRun?.(null)
  await using runner = await openRunner(settings, {
    ...input,
    signal: AbortSignal.any([input.signal, signal]),
    retry: { ...DEFAULT_RETRY, forMs: settings.limits.retryForMs },
    isDryRun: false,
    fileLog: silentFileLog,
  })
  await input.onRun?.(runner)
  try {
    const choice = { words: names, to: undefined, cwd, home, known: runner.storedMirrors }
    await askMounts(settings, choice, signal)
    const mirrors = chooseMirrors(settings, choice)
    // The daemon does nothing else for the mirror during the run, so the run ends sooner; the daemon follows the remaining resources.
    const waitMs = Math.min(settings.ingestion.deadlineMs, runner.isInDaemon ? MAX_WAIT_MS : Number.POSITIVE_INFINITY)
    // What needs a confirmation is confirmed on the command line.
    const { failure } = await runner.run(mirrors, { ...CAREFUL_PASS, waitMs })
    if (failure) throw failure
  } finally {
    await input.onRun?.(null)
  }
}

/** The time that a sync beside a daemon's other work waits for ingestion. */
const MAX_WAIT_MS = 60_000
