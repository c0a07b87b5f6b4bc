import type { OutageListener } from '../remote/policies/outage.ts'
import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import { pauseMirrors, resumeMirrors } from '../sync/operator/pause-mirrors.ts'
import { CAREFUL_PASS } from '../sync/pass.ts'
import { silentFileLog } from '../sync/sinks.ts'
import { changeStore } from './ask-daemon.ts'
import { awaitMounts, chooseMirrors } from './mirrors/choose-mirrors.ts'
import { chooseNames } from './mirrors/choose-stored.ts'
import { openRunner, type Runner } from './open-runner.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import type { Settings } from './settings/settings.ts'

export interface MirrorActionsInput extends OpenServiceInput {
  readonly stateDir: string
  settings(): Settings
  /** Called with null before a runner is opened and after its run, and with the runner in between. */
  onRun?(runner: Runner | null): Promise<void>
}

/** Actions that the dashboard or another host asks for. Without names they concern all mirrors. */
export function mirrorActions(input: MirrorActionsInput) {
  const change = (action: 'pause' | 'resume', apply: typeof pauseMirrors) => async (words: readonly string[]) => {
    const names = chooseNames(input.settings(), words)
    await changeStore(input.stateDir, {
      askDaemon: (daemon) => daemon[action](names),
      changeStore: (store) => apply(store, names),
    })
  }
  return {
    pause: change('pause', pauseMirrors),
    resume: change('resume', resumeMirrors),
    /** Resolves at the end of the run. `onOutage` is called while the service does not answer. */
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
    const choice = { words: names, to: undefined, cwd, home, storedMirrors: runner.storedMirrors }
    await awaitMounts(settings, choice, signal)
    const mirrors = chooseMirrors(settings, choice)
    // During a run the daemon does nothing else for the mirror, so the run waits only briefly; the daemon follows ingestion afterwards.
    const waitMs = Math.min(settings.ingestion.deadlineMs, runner.isInDaemon ? MAX_WAIT_MS : Number.POSITIVE_INFINITY)
    // A sync that needs a confirmation fails here; only the command line can ask for it.
    const { failure } = await runner.run(mirrors, { ...CAREFUL_PASS, waitMs })
    if (failure) throw failure
  } finally {
    await input.onRun?.(null)
  }
}

/** The longest time that a sync in a daemon waits for ingestion. */
const MAX_WAIT_MS = 60_000
