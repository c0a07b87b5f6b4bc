import { type Dashboard, startDashboard } from '../dashboard/start-dashboard.ts'
import { INTERACTIVE_RETRY } from '../rules/retry-delay.ts'
import type { Service } from '../sync/engine.ts'
import { openStateReader } from '../sync/reading/state-reader.ts'
import { dashboardSources } from './dashboard-sources.ts'
import type { ReadTextFile } from './files/private-files.ts'
import { readStoredMirrors } from './mirrors/mirror-roster.ts'
import type { Runner } from './open-runner.ts'
import { createLazyService, type OpenServiceInput } from './service-client/open-service.ts'
import type { ExplainedSettings } from './settings/explain-settings.ts'
import type { Settings } from './settings/settings.ts'

interface ServeInput extends OpenServiceInput {
  explainSettings(): ExplainedSettings
  readSettings(readFile?: ReadTextFile): Settings
}

/** Serves the dashboard from this process, without a daemon. */
export async function serveDashboard(settings: Settings, input: ServeInput): Promise<Dashboard> {
  const { stateDir } = settings
  await using opening = new AsyncDisposableStack()
  const own = opening.use(createLazyService(settings, { ...input, retry: INTERACTIVE_RETRY }))
  const reader = opening.use(openStateReader(stateDir))
  let service: Service = own
  let current = settings
  const sources = dashboardSources({
    ...input,
    stateDir,
    reader,
    log: null,
    settings: () => current,
    // The dashboard only edits mirrors; the opened service stays in use.
    onChange: ({ configFile, mirrors }) => {
      current = { ...current, configFile, mirrors }
    },
    storedMirrors: () => readStoredMirrors(stateDir),
    service: () => service,
    // The embedded library can be opened only once, so during a sync the dashboard uses the runner's service.
    onRun: async (runner: Runner | null) => {
      service = runner && !runner.isInDaemon ? runner.reportContext().service : own
      await own.disconnect()
    },
  })
  const dashboard = opening.use(await startDashboard(sources, input.logger))
  const opened = opening.move()
  return { ...dashboard, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
