import { basename, dirname, resolve } from 'node:path'
import { defaultDataDir, defaultStateDir, expandHome, type Surroundings } from './config-paths.ts'
import { type Config, type MirrorConfig, mirrorWithDefaults } from './schema.ts'
import type {
  ClientCertificateFiles,
  ConfiguredMirror,
  EmbedderSettings,
  NotifySettings,
  ServiceSettings,
  Settings,
} from './settings.ts'

/** Converts the checked configuration: makes paths absolute and puts units into names. */
export function toSettings(config: Config, configFile: string | undefined, around: Surroundings): Settings {
  const absolute = (path: string) =>
    resolve(configFile === undefined ? around.cwd : dirname(configFile), expandHome(path, around.home))
  const { bandwidth, retryFor, ...limits } = config.limits
  const { firstPoll, maxPoll, deadline } = config.ingestion
  const { uploadDirectoryField: field } = config.contract
  return {
    configFile,
    stateDir: config.stateDir === undefined ? defaultStateDir(around) : absolute(config.stateDir),
    service: toServiceSettings(config, absolute, around),
    embedder: toEmbedderSettings(config.embedder, absolute),
    mirrors: config.mirrors.map((mirror) => toMirrorSettings(mirror, absolute(mirror.path))),
    limits: { ...limits, bandwidthBytesPerSecond: bandwidth, retryForMs: retryFor },
    ingestion: { firstPollMs: firstPoll, maxPollMs: Math.max(firstPoll, maxPoll), deadlineMs: deadline },
    contract: { ...config.contract, uploadDirectoryField: field === 'none' ? null : field },
    scrubIntervalMs: config.scrub.interval,
    logFormat: config.log.format,
    timeZone: config.timeZone,
    maintenance: config.maintenance.map(({ start, duration }) => ({ start, durationMs: duration })),
    healthListen: config.health.listen,
    notify: toNotifySettings(config.notify, absolute),
  }
}

/** Returns a mirror that is not configured: an absolute directory and its target, with defaults for the rest. */
export function adHocMirror(path: string, target: { library?: string; remotePath?: string } = {}): ConfiguredMirror {
  return toMirrorSettings({ ...mirrorWithDefaults(path), ...target }, path)
}

function toServiceSettings(config: Config, absolute: (path: string) => string, around: Surroundings): ServiceSettings {
  const { service } = config
  const dataDir = config.dataDir === undefined ? defaultDataDir(around) : absolute(config.dataDir)
  if (!service) return { kind: 'embedded', dataDir }
  return {
    kind: 'configured',
    dataDir,
    origin: service.url,
    caFile: service.caFile === undefined ? undefined : absolute(service.caFile),
    clientCertificate: service.clientCertificate && toCertificateFiles(service.clientCertificate, absolute),
    token: service.token,
    tokenFile: service.tokenFile === undefined ? undefined : absolute(service.tokenFile),
    tokenCommand: service.tokenCommand && toCommand(service.tokenCommand, absolute),
  }
}

function toCertificateFiles(
  { certFile, keyFile, passphraseFile }: NonNullable<NonNullable<Config['service']>['clientCertificate']>,
  absolute: (path: string) => string,
): ClientCertificateFiles {
  return {
    certFile: absolute(certFile),
    keyFile: absolute(keyFile),
    passphraseFile: passphraseFile === undefined ? undefined : absolute(passphraseFile),
  }
}

/** Makes the path of the program absolute; a program without a slash is searched on the PATH. */
function toCommand(words: readonly string[], absolute: (path: string) => string): string[] {
  return words.map((word, index) => (index === 0 && word.includes('/') ? absolute(word) : word))
}

function toNotifySettings(
  { command, webhooks, email, noSuccessFor }: Config['notify'],
  absolute: (path: string) => string,
): NotifySettings {
  return {
    command: command && toCommand(command, absolute),
    webhooks,
    email: email && { to: email.to, from: email.from, sendmail: absolute(email.sendmail) },
    noSuccessForMs: noSuccessFor,
  }
}

function toEmbedderSettings(embedder: Config['embedder'], absolute: (path: string) => string): EmbedderSettings {
  if (typeof embedder === 'string') return { kind: embedder }
  if ('folder' in embedder) return { kind: 'folder', folder: absolute(embedder.folder) }
  const { url, model, keyFile } = embedder
  return { kind: 'endpoint', url, model, keyFile: keyFile === undefined ? undefined : absolute(keyFile) }
}

function toMirrorSettings(mirror: MirrorConfig, path: string): ConfiguredMirror {
  const directoryName = basename(path) || 'root'
  return {
    name: mirror.name ?? directoryName,
    path,
    library: mirror.library ?? directoryName,
    remotePath: mirror.remotePath ?? `/${directoryName}`,
    ignore: mirror.ignore,
    maxSizeBytes: mirror.maxSize,
    symlinks: mirror.symlinks,
    watch: mirror.watch,
    watcher: mirror.watcher,
    pollIntervalMs: mirror.pollInterval,
    settleMs: mirror.settle,
    rescanMs: mirror.rescan,
    schedule: mirror.schedule,
    maxDurationMs: mirror.maxDuration,
    duplicates: mirror.duplicates,
    emptyFiles: mirror.emptyFiles,
    oneFileSystem: mirror.oneFileSystem,
  }
}
