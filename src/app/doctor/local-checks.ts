import { assertOwnDirectory } from '../../foundation/files/private-directory.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { nodeFileSystem } from '../../local/read/file-system.ts'
import { sizeOnDisk } from '../../local/read/size-on-disk.ts'
import { assessDisk, ok, warning } from '../../rules/doctor-findings.ts'
import { nearestDirectory } from '../files/paths-on-disk.ts'
import { listExposed } from '../files/private-files.ts'
import { chooseEmbedder } from '../service-client/choose-embedder.ts'
import type { EmbedderSettings } from '../settings/settings.ts'
import type { Check } from './doctor-context.ts'
import { valueOrSkip } from './error-findings.ts'

export const configuration: Check = {
  name: 'configuration',
  run: async (context) => {
    const { configFile, mirrors } = await context.settings()
    const origin = configFile ?? 'no file, the defaults hold'
    return [ok(`${origin}, ${mirrors.length === 0 ? 'no mirror' : counted(mirrors.length, 'mirror')}`)]
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
    const text = `${inspected.isRead ? 'intact' : 'opens, too large to be read at once'}, ${formatSize(inspected.sizeBytes)}`
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
    if (kind !== 'offline') return [ok(describe(settings.embedder))]
    const { isOfflineEmbedderInstalled } = await import('../../embedded/embedding/offline-embedder.ts')
    return [isOfflineEmbedderInstalled() ? ok(ENGLISH) : warning(NOT_INSTALLED, 'npm install -g shelfd')]
  },
}

function describe(embedder: EmbedderSettings): string {
  if (embedder.kind === 'endpoint') return `${embedder.model} at ${embedder.url}`
  return 'none: searches match terms only'
}

export const disk: Check = {
  name: 'disk',
  run: async (context) => {
    const settings = await context.settings().catch(() => undefined)
    const dataDirs = settings?.service.kind === 'embedded' ? [settings.service.dataDir] : []
    const findings = [context.stateDir, ...dataDirs].map((place) =>
      assessDisk(place, context.machine.freeBytes(nearestDirectory(place))),
    )
    const troubled = findings.filter(({ level }) => level !== 'ok')
    return troubled.length > 0 ? troubled : findings.slice(0, 1)
  },
}
