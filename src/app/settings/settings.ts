/** The configuration as the program uses it: defaults filled in, units in the names, paths absolute. */
import { hostname } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { defaultDataDir, defaultStateDir, expandHome, type Surroundings } from './config-paths.ts'
import { type Config, mirrorWithDefaults } from './schema.ts'

/** The schema explains the keys. Null means no limit, or never. */
export interface Settings {
  readonly configFile: string | undefined
  readonly stateDir: string
  readonly service: ServiceSettings
  readonly embedder: EmbedderSettings
  readonly mirrors: readonly ConfiguredMirror[]
  readonly limits: Readonly<Config['limits']>
  readonly ingestion: Readonly<Config['ingestion']>
  readonly contract: Readonly<Config['contract']>
  /** The interval at which every file is hashed again. */
  readonly scrubIntervalMs: number | null
  readonly logFormat: LogFormat
  /** IANA name; undefined for the system's time zone. */
  readonly timeZone: string | undefined
  readonly maintenance: readonly Readonly<Config['maintenance'][number]>[]
  /** `auto`: only under a service manager. */
  readonly healthListen: Config['health']['listen']
  readonly libraryListen: Config['library']['listen']
  readonly notify: NotifySettings
  /** Undefined for a host alone. */
  readonly fleet: FleetSettings | undefined
  /** Of mirrors without commands of their own. */
  readonly hooks: HookSettings | undefined
}

type FleetConfig = Readonly<NonNullable<Config['fleet']>>

/** The ledger that several hosts share, and this host's name in it. */
export type FleetSettings = Omit<FleetConfig, 'host'> & { readonly host: string }

/** `auto`: json under a service manager, else text. */
export type LogFormat = Config['log']['format']

/** The way in which people are notified when something fails. */
export type NotifySettings = Readonly<Config['notify']>

/** The embedder by which a balanced search of the embedded library compares meaning. */
export type EmbedderSettings =
  | { readonly kind: 'offline' | 'none' }
  | {
      readonly kind: 'endpoint'
      readonly url: string
      readonly model: string
      /** Holds the key and nothing else. */
      readonly keyFile: string | undefined
    }

type ServiceSettings = EmbeddedServiceSettings | ConfiguredServiceSettings

export interface EmbeddedServiceSettings {
  readonly kind: 'embedded'
  /** The directory in which the embedded library keeps its data. */
  readonly dataDir: string
}

type ServiceConfig = Readonly<NonNullable<Config['service']>>

export interface ConfiguredServiceSettings extends TokenSources {
  readonly kind: 'configured'
  /** For `shelfd serve`, which runs the embedded library even when a service is configured. */
  readonly dataDir: string
  readonly origin: string
  /** Where the address was given: the flag, the variable or the file. */
  readonly addressFrom: string
  readonly caFile: string | undefined
  readonly clientCertificate: ClientCertificateFiles | undefined
}

export type ClientCertificateFiles = Readonly<NonNullable<ServiceConfig['clientCertificate']>>

/** At most one is given. */
export type TokenSources = Pick<ServiceConfig, 'token' | 'tokenFile' | 'tokenCommand'>

export type HookSettings = Readonly<NonNullable<Config['hooks']>>

type MirrorConfig = Readonly<Config['mirrors'][number]>

/** A mirror whose directory is absolute, and whose name and target are filled in. */
export interface ConfiguredMirror extends Omit<MirrorConfig, 'name' | 'library' | 'remotePath'> {
  readonly name: string
  readonly library: string
  readonly remotePath: string
}

type Absolute = (path: string) => string

export function toSettings(
  config: Config,
  { configFile, addressFrom }: { readonly configFile: string | undefined; readonly addressFrom: string },
  surroundings: Surroundings,
): Settings {
  const { limits, ingestion, contract, timeZone, maintenance, notify } = config
  const absolute: Absolute = (path) =>
    resolve(configFile === undefined ? surroundings.cwd : dirname(configFile), expandHome(path, surroundings.home))
  return {
    configFile,
    stateDir: config.stateDir === undefined ? defaultStateDir(surroundings) : absolute(config.stateDir),
    service: toServiceSettings(config, { absolute, addressFrom }, surroundings),
    embedder: toEmbedderSettings(config.embedder, absolute),
    mirrors: config.mirrors.map((mirror) => {
      return {
        ...toMirrorSettings(mirror, absolute(mirror.path)),
        ...(mirror.hooks && { hooks: toHooks(mirror.hooks, absolute) }),
      }
    }),
    hooks: config.hooks && toHooks(config.hooks, absolute),
    limits,
    ingestion,
    contract,
    scrubIntervalMs: config.scrub.interval,
    logFormat: config.log.format,
    timeZone,
    maintenance,
    healthListen: config.health.listen,
    libraryListen: config.library.listen,
    notify: { ...notify, command: notify.command && toCommand(notify.command, absolute) },
    fleet: config.fleet && toFleetSettings(config.fleet, absolute),
  }
}

/** Returns a mirror that is not configured: an absolute directory and its target, with the defaults of the service for the rest. */
export function adHocMirror(
  { kind }: Pick<Settings['service'], 'kind'>,
  path: string,
  target: { library?: string; remotePath?: string } = {},
): ConfiguredMirror {
  return toMirrorSettings({ ...mirrorWithDefaults(path, kind), ...target }, path)
}

function toMirrorSettings(mirror: MirrorConfig, path: string): ConfiguredMirror {
  const directoryName = basename(path) || 'root'
  const { name = directoryName, library = directoryName, remotePath = `/${directoryName}` } = mirror
  return { ...mirror, path, name, library, remotePath }
}

function toServiceSettings(
  config: Config,
  { absolute, addressFrom }: { readonly absolute: Absolute; readonly addressFrom: string },
  surroundings: Surroundings,
): ServiceSettings {
  const dataDir = config.dataDir === undefined ? defaultDataDir(surroundings) : absolute(config.dataDir)
  if (!config.service) return { kind: 'embedded', dataDir }
  const { url: origin, token, tokenFile, tokenCommand, caFile, clientCertificate } = config.service
  return {
    kind: 'configured',
    dataDir,
    origin,
    addressFrom,
    caFile: caFile && absolute(caFile),
    clientCertificate: clientCertificate && toFiles(clientCertificate, absolute),
    token,
    tokenFile: tokenFile && absolute(tokenFile),
    tokenCommand: tokenCommand && toCommand(tokenCommand, absolute),
  }
}

function toFleetSettings(fleet: FleetConfig, absolute: Absolute): FleetSettings {
  const { passwordFile, passwordCommand, caFile, clientCertificate, host = hostname() } = fleet
  return {
    ...fleet,
    host,
    passwordFile: passwordFile && absolute(passwordFile),
    passwordCommand: passwordCommand && toCommand(passwordCommand, absolute),
    caFile: caFile && absolute(caFile),
    clientCertificate: clientCertificate && toFiles(clientCertificate, absolute),
  }
}

function toFiles(
  { certFile, keyFile, passphraseFile }: ClientCertificateFiles,
  absolute: Absolute,
): ClientCertificateFiles {
  return {
    certFile: absolute(certFile),
    keyFile: absolute(keyFile),
    passphraseFile: passphraseFile && absolute(passphraseFile),
  }
}

function toHooks({ before, after, timeoutMs }: HookSettings, absolute: Absolute): HookSettings {
  return { before: before && toCommand(before, absolute), after: after && toCommand(after, absolute), timeoutMs }
}

/** A program without a slash is searched on the PATH. */
function toCommand(words: readonly string[], absolute: Absolute): string[] {
  return words.map((word, index) => (index === 0 && word.includes('/') ? absolute(word) : word))
}

function toEmbedderSettings(embedder: Config['embedder'], absolute: Absolute): EmbedderSettings {
  if (typeof embedder === 'string') return { kind: embedder }
  const { url, model, keyFile } = embedder
  return { kind: 'endpoint', url, model, keyFile: keyFile && absolute(keyFile) }
}

/** Returns the files named in the configuration that hold a credential. */
export function credentialFilesOf({ configFile, service, embedder, fleet }: Settings): readonly string[] {
  const ofCertificate = (files: ClientCertificateFiles | undefined) => [files?.keyFile, files?.passphraseFile]
  const ofService =
    service.kind === 'embedded'
      ? []
      : [service.tokenFile, service.token && configFile, ...ofCertificate(service.clientCertificate)]
  const ofFleet = [fleet?.passwordFile, ...ofCertificate(fleet?.clientCertificate)]
  const ofEmbedder = embedder.kind === 'endpoint' ? embedder.keyFile : undefined
  return [...ofService, ...ofFleet, ofEmbedder].flatMap((file) => file || [])
}
