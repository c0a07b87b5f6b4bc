/** The configuration as the program uses it: defaults filled in, units in the names, paths absolute. */
import { defaultDataDir, defaultStateDir, type Surroundings } from './config-paths.ts'
import type { Config } from './schema.ts'

/** The schema explains the keys. Null means no limit, or never. */
export interface Settings
  extends Readonly<Omit<Config, 'service' | 'mirrors' | 'scrub' | 'health' | 'library' | 'log' | 'dataDir'>> {
  readonly configFile: string | undefined
  readonly stateDir: string
  readonly service: EmbeddedServiceSettings | ConfiguredServiceSettings
  readonly mirrors: readonly ConfiguredMirror[]
  readonly scrubIntervalMs: number | null
  readonly logFormat: LogFormat
  readonly healthListen: Config['health']['listen']
  readonly libraryListen: Config['library']['listen']
}

export type FleetSettings = Readonly<NonNullable<Config['fleet']>>

export type LogFormat = Config['log']['format']

export type NotifySettings = Readonly<Config['notify']>
export type EmbedderSettings = Readonly<Config['embedder']>

export interface EmbeddedServiceSettings {
  readonly kind: 'embedded'
  readonly dataDir: string
}

type ServiceConfig = Readonly<NonNullable<Config['service']>>

export interface ConfiguredServiceSettings extends ServiceConfig {
  /** The data directory for `shelfd serve`, which runs the embedded library even if a service is configured. */
  readonly dataDir: string
  /** Where the address was given: the flag, the variable or the file. */
  readonly addressFrom: string
}

export type ClientCertificateFiles = Readonly<NonNullable<ServiceConfig['clientCertificate']>>

/** At most one of them is set. */
export type TokenSources = Pick<ServiceConfig, 'token' | 'tokenFile' | 'tokenCommand'>

export type ConfiguredMirror = Readonly<Config['mirrors'][number]>

export function toSettings(
  { scrub, health, library, log, service, dataDir: configuredDataDir, ...others }: Config,
  { configFile, addressFrom }: { readonly configFile: string | undefined; readonly addressFrom: string },
  surroundings: Surroundings,
): Settings {
  const dataDir = configuredDataDir ?? defaultDataDir(surroundings)
  return {
    ...others,
    configFile,
    stateDir: others.stateDir ?? defaultStateDir(surroundings),
    service: service ? { ...service, dataDir, addressFrom } : { kind: 'embedded', dataDir },
    scrubIntervalMs: scrub.interval,
    logFormat: log.format,
    healthListen: health.listen,
    libraryListen: library.listen,
  }
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
