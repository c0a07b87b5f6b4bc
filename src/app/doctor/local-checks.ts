import { listFailingChecks } from '../../daemon/health.ts'
import { errorCodes, UsageError } from '../../foundation/errors.ts'
import { assertOwnDirectory } from '../../foundation/files/private-directory.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { nodeFileSystem } from '../../local/read/file-system.ts'
import { sizeOnDisk } from '../../local/read/size-on-disk.ts'
import {
  assessDisk,
  assessMissingDaemon,
  assessServiceManager,
  type Finding,
  failed,
  ok,
  warning,
} from '../../rules/doctor-findings.ts'
import { describeStatus } from '../../sync/continuous/controller-status.ts'
import { isThere, nearestDirectory } from '../files/paths-on-disk.ts'
import { listExposed } from '../files/private-files.ts'
import { chooseEmbedder } from '../service-client/choose-embedder.ts'
import type { EmbedderSettings } from '../settings/settings.ts'
import { type ManageInput, manageOwnSystemService, showSystemService } from '../system-service/manage-system-service.ts'
import { type Check, type DoctorContext, valueOrSkip } from './doctor-context.ts'
import { isToBeSynced, rosterOf } from './mirror-checks.ts'

export const configuration: Check = {
  name: 'configuration',
  run: async (context) => {
    const { configFile, mirrors } = await context.settings()
    if (configFile === undefined) return [ok('no file, the defaults hold')]
    return [ok(`${configFile}, ${mirrors.length === 0 ? 'no mirror in it' : counted(mirrors.length, 'mirror')}`)]
  },
}

export const permissions: Check = {
  name: 'permissions',
  run: async (context) => {
    const { service } = await valueOrSkip(context.settings(), 'configuration')
    const directories = [context.stateDir, ...(service.kind === 'embedded' ? [service.dataDir] : [])]
    for (const directory of directories) assertOwnDirectory(directory, { isReader: true })
    const exposed = directories.flatMap(listExposed)
    const findings = exposed.map(({ path, why, fix }) => warning(`"${path}": ${why}`, fix))
    return findings.length > 0 ? findings : [ok('nobody else can read or change what shelfd keeps')]
  },
}

export const state: Check = {
  name: 'state',
  run: async (context) => {
    const inspected = await context.checkedStore()
    if (!inspected) return [ok(`nothing kept yet (${context.stateDir})`)]
    const text = `${inspected.isRead ? 'intact' : 'can be opened, but is too large to be read at once'}, ${formatSize(inspected.sizeBytes)}`
    if (inspected.isOlder) return [ok(`${text}, of an older version: the next sync migrates it`)]
    const store = await context.store()
    if (!store?.mayLackReceipts()) return [ok(`${text} (${context.stateDir})`)]
    return [warning(`${text}, restored or copied: the next sync looks in the library for uploads that it lacks`)]
  },
}

export const library: Check = {
  name: 'library',
  run: async (context) => {
    const { service } = await valueOrSkip(context.settings(), 'configuration')
    if (service.kind === 'configured') return []
    const { dataDir } = service
    assertOwnDirectory(dataDir, { isReader: true })
    const { inspectLibrary } = await import('../../embedded/storage/check-library.ts')
    const inspected = inspectLibrary(dataDir)
    if (!inspected) return [ok(`on this computer, nothing in it yet (${dataDir})`)]
    const condition = inspected.isRead ? 'intact' : 'too large to be read at once'
    return [ok(`on this computer, ${condition}, ${formatSize(sizeOnDisk(nodeFileSystem, dataDir))} (${dataDir})`)]
  },
}

const ENGLISH = 'offline, for English only; an endpoint with a multilingual model compares other languages, too'
const NOT_INSTALLED = 'offline, but its optional packages are not installed: searches match terms only'

export const embedder: Check = {
  name: 'embedder',
  run: async (context) => {
    const settings = await valueOrSkip(context.settings(), 'configuration')
    if (settings.service.kind === 'configured') return []
    const { kind } = chooseEmbedder(settings.embedder, context.redactor)
    if (kind !== 'offline') return [ok(describeEmbedder(settings.embedder))]
    const { isOfflineEmbedderInstalled } = await import('../../embedded/embedding/offline-embedder.ts')
    return [isOfflineEmbedderInstalled() ? ok(ENGLISH) : warning(NOT_INSTALLED, 'npm install -g shelfd')]
  },
}

function describeEmbedder(embedder: EmbedderSettings): string {
  if (embedder.kind === 'endpoint') return `${embedder.model} at ${embedder.url}`
  return 'none: searches match terms only'
}

export const disk: Check = {
  name: 'disk',
  run: async (context) => {
    const settings = await context.settings().catch(() => undefined)
    const dataDirs = settings?.service.kind === 'embedded' ? [settings.service.dataDir] : []
    const findings = [context.stateDir, ...dataDirs].map((directory) =>
      assessDisk(directory, context.machine.freeBytes(nearestDirectory(directory))),
    )
    const problems = findings.filter(({ level }) => level !== 'ok')
    return problems.length > 0 ? problems : findings.slice(0, 1)
  },
}

export const systemService: Check = {
  name: 'service manager',
  run: async (context) => {
    const [ofUser, ofSystem] = [findManager(context, false), findManager(context, true)]
    const installed = [ofUser, ofSystem].flatMap((found) =>
      typeof found !== 'string' && isThere(found.plan.file) ? found : [],
    )
    if (installed.length > 0) return Promise.all(installed.map((each) => assessManager(each, each === ofSystem)))
    return [typeof ofUser === 'string' ? ok(ofUser) : assessServiceManager('not-installed', ofUser.plan.file)]
  },
}

async function assessManager(manager: ManageInput, isSystem: boolean): Promise<Finding> {
  const isRunning = await showSystemService(manager, () => {})
  return assessServiceManager(isRunning ? 'running' : 'stopped', manager.plan.file, isSystem)
}

function findManager(context: DoctorContext, isSystem: boolean): ManageInput | string {
  try {
    return manageOwnSystemService(context, isSystem)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

export const daemon: Check = {
  name: 'daemon',
  run: async (context) => {
    const client = await context.daemon()
    if (!client) return [await missingDaemon(context)]
    const status = await client.status()
    const failing = listFailingChecks(status).map(({ check, code, message }) => {
      return failed(`${check}: ${message}`, { code: errorCodes.find((each) => each === code) })
    })
    return failing.length > 0 ? failing : [ok(`running (process ${status.pid}), ${describeStatus(status)}`)]
  },
}

async function missingDaemon(context: DoctorContext): Promise<Finding> {
  const roster = (await valueOrSkip(rosterOf(context), 'mirrors')).filter(isToBeSynced)
  const scheduled = roster.filter(({ configured }) => configured?.schedule !== undefined)
  return assessMissingDaemon({ mirrors: roster.length, scheduled: scheduled.map(({ name }) => name) })
}
