import { setTimeout as sleep } from 'node:timers/promises'
import type { SettingsInForce } from '../contract/dashboard.ts'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import type { DashboardSources, RecentLog } from '../dashboard/sources.ts'
import { RequestError } from '../foundation/errors.ts'
import { version } from '../foundation/version.ts'
import { isOutOfUse } from '../rules/mirrors.ts'
import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import type { MirrorRow } from '../store/tables/mirrors.ts'
import type { Service } from '../sync/engine.ts'
import { CAREFUL_PASS } from '../sync/pass.ts'
import { pauseMirrors, resumeMirrors } from '../sync/pause.ts'
import { retryContents, setContentsAside } from '../sync/quarantine.ts'
import type { StateReader } from '../sync/reading/state-reader.ts'
import { describeExplanation } from '../sync/report/describe-explanation.ts'
import { explainPath, locateResource } from '../sync/report/explain-path.ts'
import { silentFileLog } from '../sync/sinks.ts'
import { changeStore } from './change-store.ts'
import { chooseNames } from './mirrors/choose-known.ts'
import { chooseMirrors, settingsOfRow } from './mirrors/choose-mirrors.ts'
import { describeInactive, listRoster } from './mirrors/mirror-roster.ts'
import { openReader } from './open-engine.ts'
import { openRunner, type Runner, serviceNameOf } from './open-runner.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import type { Explained, ExplainedSettings } from './settings/explain-settings.ts'
import type { Settings } from './settings/settings.ts'

interface DashboardInput extends OpenServiceInput {
  readonly stateDir: string
  readonly reader: StateReader
  readonly log: RecentLog | null
  /** Returns those in force now. */
  settings(): Settings
  explainSettings(): ExplainedSettings
  knownMirrors(): readonly MirrorRow[]
  service(): Service
  /** Called before a sync of this process, with its service, and with null after it. */
  onRun?(runner: Runner | null): Promise<void>
}

/** The dashboard works as other commands do: it reads the store, and asks the daemon, if one runs, for every change. */
export function dashboardSources(input: DashboardInput): DashboardSources {
  const { stateDir } = input
  return {
    reader: input.reader,
    version,
    serviceName: serviceNameOf(input.settings()),
    log: input.log,
    daemonStatus: async () => (await (await connectToDaemon(stateDir))?.status()) ?? null,
    listMirrors: () =>
      listRoster(input.settings(), input.knownMirrors()).map((entry) => ({
        name: entry.name,
        path: entry.path,
        isOutOfUse: isOutOfUse(entry.activity),
        inactive: (entry.row && describeInactive(entry)) ?? null,
      })),
    settings: () => redacted(listSettings(input.explainSettings()), input),
    service: () => input.service(),
    pause: (names) => changeMirrors(input, names, { ask: 'pause', make: pauseMirrors }),
    resume: (names) => changeMirrors(input, names, { ask: 'resume', make: resumeMirrors }),
    sync: (names, signal, onOutage) => sync({ ...input, onOutage }, names, signal),
    retry: (ids) =>
      changeStore(stateDir, { ask: (daemon) => daemon.retry(ids), make: (store) => retryContents(store, ids) }),
    setAside: (ids) =>
      changeStore(stateDir, { ask: (daemon) => daemon.ignore(ids), make: (store) => setContentsAside(store, ids) }),
    explain: (mirror, path, signal) => explain(input, { mirror, path }, signal),
  }
}

interface MirrorChange {
  readonly ask: 'pause' | 'resume'
  readonly make: typeof pauseMirrors
}

async function changeMirrors(input: DashboardInput, given: readonly string[], { ask, make }: MirrorChange) {
  const names = chooseNames(input.settings(), given)
  await changeStore(input.stateDir, { ask: (daemon) => daemon[ask](names), make: (store) => make(store, names) })
}

/** Throws the error that ended the run. */
async function sync(input: DashboardInput, names: readonly string[], signal: AbortSignal): Promise<void> {
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
    const mirrors = chooseMirrors(settings, { words: names, to: undefined, cwd, home, known: runner.known })
    // Meanwhile a daemon does nothing else for the mirror, so there the run ends sooner, and the daemon follows the rest.
    const waitMs = Math.min(
      settings.ingestion.deadlineMs,
      runner.isInDaemon ? LONGEST_WAIT_MS : Number.POSITIVE_INFINITY,
    )
    // What needs a confirmation is confirmed on the command line.
    const { failure } = await runner.run(mirrors, { ...CAREFUL_PASS, waitMs })
    if (failure) throw failure
  } finally {
    await input.onRun?.(null)
  }
}

/** The time that a sync beside a daemon's other work waits for ingestion. */
const LONGEST_WAIT_MS = 60_000

const LOCATED_WITHIN_MS = 2_000

async function explain(
  input: DashboardInput,
  { mirror, path }: { readonly mirror: string; readonly path: string },
  signal: AbortSignal,
): Promise<readonly (readonly [string, string])[]> {
  if (path !== '' && path.split('/').some((part) => ['', '.', '..'].includes(part)))
    throw new RequestError('invalid', `"${path}" is no path in a mirror`, 400)
  const settings = input.settings()
  await using reader = openReader(settings, input)
  const row = reader.store?.mirrors.findByName(mirror)
  if (!reader.store || !row) throw new RequestError('not-found', `There is no mirror "${mirror}"`, 404)
  const context = reader.contextFor(reader.store)
  const found = explainPath(context, row, settingsOfRow(settings, reader.store.mirrors.list(), row), path)
  // What this computer knows is shown also while the service does not answer.
  const late = sleep(LOCATED_WITHIN_MS, { paths: [], error: 'the service has not answered yet' }, { ref: false })
  const remote = await Promise.race([locateResource({ service: input.service(), signal }, found), late])
  const fields = Object.entries(describeExplanation(found, remote, Date.now()))
  return fields.flatMap(([label, text]) => (text ? [[label, text] as const] : []))
}

function redacted(settings: SettingsInForce, { redactor }: DashboardInput): SettingsInForce {
  return {
    ...settings,
    settings: settings.settings.map((setting) => ({ ...setting, value: redactor.redact(setting.value) })),
  }
}

type Setting = SettingsInForce['settings'][number]

/** Lists every setting by its whole key, such as `limits.transfers` and `mirrors.0.path`; secrets are hints. */
export function listSettings({ configFile, root }: ExplainedSettings): SettingsInForce {
  return { configFile: configFile ?? null, settings: listOf('', root) }
}

function listOf(key: string, explained: Explained): Setting[] {
  switch (explained.kind) {
    case 'section':
      return explained.entries.flatMap(([name, inner]) => listOf(key === '' ? name : `${key}.${name}`, inner))
    case 'list':
      return explained.items.flatMap((item, index) => listOf(`${key}.${index}`, item))
    case 'hidden':
      return [{ key, value: `(${explained.hint})`, origin: explained.origin }]
    case 'value':
      return [{ key, value: textOf(explained.value), origin: explained.origin }]
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
