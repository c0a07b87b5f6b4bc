import { setTimeout as sleep } from 'node:timers/promises'
import type { SettingsInForce } from '../contract/dashboard.ts'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import type { DashboardSources, RecentLog } from '../dashboard/sources.ts'
import { RequestError } from '../foundation/errors.ts'
import { isoTime } from '../foundation/text/times.ts'
import { version } from '../foundation/version.ts'
import { retryFailures, setFailuresAside } from '../sync/operator/quarantine.ts'
import type { StateReader } from '../sync/reading/state-reader.ts'
import { describeExplanation } from '../sync/report/describe-explanation.ts'
import { explainPath, locateResource } from '../sync/report/explain-path.ts'
import { changeStore } from './ask-daemon.ts'
import { type MirrorActionsInput, mirrorActions } from './mirror-actions.ts'
import { settingsOfRow } from './mirrors/choose-mirrors.ts'
import { createMirrorEdits, type EditsInput } from './mirrors/edit-mirrors.ts'
import { creatorOf, describeInactive, listForOverview, listRoster, type RosterEntry } from './mirrors/mirror-roster.ts'
import { openReader, ownDirectoriesOf } from './open-engine.ts'
import { openFleet } from './open-fleet.ts'
import { serviceNameOf } from './open-runner.ts'
import { openWithSystem } from './open-with-system.ts'
import type { Explained, ExplainedSettings } from './settings/explain-settings.ts'

interface DashboardInput extends MirrorActionsInput, Omit<EditsInput, 'ownDirectories'> {
  readonly reader: StateReader
  readonly log: RecentLog | null
  explainSettings(): ExplainedSettings
}

/** Returns what the dashboard reads and changes: it reads the store itself, and a running daemon makes every change of the store. */
export function dashboardSources(input: DashboardInput): DashboardSources {
  const { stateDir } = input
  const { fleet } = input.settings()
  return {
    reader: input.reader,
    version,
    serviceName: serviceNameOf(input.settings()),
    log: input.log,
    daemonStatus: async () => (await (await connectToDaemon(stateDir))?.status()) ?? null,
    openFleet: fleet && (() => openFleet(fleet, input)),
    listMirrors: () => listForOverview(input.settings(), input.storedMirrors()),
    settings: () => ({
      ...redactValues(listSettings(input.explainSettings()), input),
      mirrors: listRoster(input.settings(), input.storedMirrors()).map(describeMirror),
    }),
    service: () => input.service(),
    ...mirrorActions(input),
    retry: (named) =>
      changeStore(stateDir, {
        askDaemon: (daemon) => daemon.retry(named),
        changeStore: (store) => retryFailures(store, named),
      }),
    setAside: (named) =>
      changeStore(stateDir, {
        askDaemon: (daemon) => daemon.ignore(named),
        changeStore: (store) => setFailuresAside(store, named),
      }),
    openPath: (path) => openWithSystem(path, input.env),
    edits: createMirrorEdits({ ...input, ownDirectories: ownDirectoriesOf(input.settings()) }),
    explain: (mirror, path, signal) => explain(input, { mirror, path }, signal),
  }
}

const LOCATED_WITHIN_MS = 2_000

async function explain(
  input: DashboardInput,
  { mirror, path }: { readonly mirror: string; readonly path: string },
  signal: AbortSignal,
): Promise<readonly (readonly [string, string])[]> {
  if (path !== '' && path.split('/').some((part) => ['', '.', '..'].includes(part)))
    throw new RequestError('invalid', `"${path}" is not a path in a mirror`, 400)
  const settings = input.settings()
  await using reader = openReader(settings, input)
  const row = reader.store?.mirrors.findByName(mirror)
  if (!reader.store || !row) throw new RequestError('not-found', `There is no mirror "${mirror}"`, 404)
  const context = reader.contextFor(reader.store)
  const found = explainPath(context, row, settingsOfRow(settings, reader.store.mirrors.list(), row), path)
  // If the service does not answer in time, the dashboard still shows what this computer knows.
  const timeout = sleep(LOCATED_WITHIN_MS, { paths: [], error: 'the service has not answered yet' }, { ref: false })
  const remote = await Promise.race([locateResource({ service: input.service(), signal }, found), timeout])
  const fields = Object.entries(describeExplanation(found, remote, { nowMs: Date.now(), format: isoTime }))
  return fields.flatMap(([label, text]) => (text ? [[label, text] as const] : []))
}

type ListedSettings = Omit<SettingsInForce, 'mirrors'>

function redactValues(settings: ListedSettings, { redactor }: DashboardInput): ListedSettings {
  return {
    ...settings,
    settings: settings.settings.map((setting) => ({ ...setting, value: redactor.redact(setting.value) })),
  }
}

type Setting = SettingsInForce['settings'][number]

export function listSettings({ configFile, root }: ExplainedSettings): ListedSettings {
  return { configFile: configFile ?? null, settings: flattenSettings('', root) }
}

function flattenSettings(key: string, explained: Explained): Setting[] {
  switch (explained.kind) {
    case 'section':
      return explained.entries.flatMap(([name, inner]) => flattenSettings(key === '' ? name : `${key}.${name}`, inner))
    case 'list':
      return explained.items.flatMap((item, index) => flattenSettings(`${key}.${index}`, item))
    case 'hidden':
      return [{ key, value: `(${explained.hint})`, origin: explained.origin }]
    case 'value':
      return [{ key, value: textOf(explained.value), origin: explained.origin }]
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function describeMirror(entry: RosterEntry): SettingsInForce['mirrors'][number] {
  const { name, path, configured } = entry
  const inactive = configured ? undefined : describeInactive(entry)
  const origin = [creatorOf(entry, 'the configuration'), inactive].filter((text) => text !== undefined).join('; ')
  return { name, path, origin, isConfigured: configured !== undefined }
}
