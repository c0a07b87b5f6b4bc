/** The configuration as the program uses it: defaults filled in, units in the names, paths absolute. */

export interface Settings {
  /** The file it was read from; undefined when there is none. */
  readonly configFile: string | undefined
  readonly stateDir: string
  readonly service: ServiceSettings
  readonly embedder: EmbedderSettings
  readonly mirrors: readonly ConfiguredMirror[]
  readonly limits: LimitSettings
  readonly ingestion: IngestionSettings
  readonly contract: ContractSettings
  /** The interval at which every file is hashed again; null for never. */
  readonly scrubIntervalMs: number | null
  readonly logFormat: LogFormat
  /** IANA name; undefined for the system's time zone. */
  readonly timeZone: string | undefined
  readonly maintenance: readonly MaintenanceSettings[]
  /** `auto`: only under a service manager. */
  readonly healthListen: 'auto' | 'none' | ListenAddress
  readonly notify: NotifySettings
}

/** Settings of the people who are notified when something fails. */
export interface NotifySettings {
  /** The program and its arguments. */
  readonly command: readonly string[] | undefined
  readonly webhooks: readonly WebhookSettings[]
  readonly email: EmailSettings | undefined
  /** The time after which a mirror that is not up to date is a reason to notify, too; null: never. */
  readonly noSuccessForMs: number | null
}

export interface WebhookSettings {
  /** A secret. */
  readonly url: string
  readonly format: 'json' | 'slack' | 'ntfy' | 'healthchecks'
}

export interface EmailSettings {
  readonly to: readonly string[]
  readonly from: string | undefined
  readonly sendmail: string
}

/** The embedder by which a balanced search of the embedded library compares meaning. */
export type EmbedderSettings =
  | { readonly kind: 'offline' | 'none' }
  | { readonly kind: 'folder'; readonly folder: string }
  | {
      readonly kind: 'endpoint'
      readonly url: string
      readonly model: string
      /** Holds the key and nothing else. */
      readonly keyFile: string | undefined
    }

/** A window in which nothing is uploaded. */
export interface MaintenanceSettings {
  /** Five-field cron. */
  readonly start: string
  readonly durationMs: number
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** `auto`: json under a service manager, else text. */
export type LogFormat = 'auto' | 'text' | 'json'

export type ServiceSettings = EmbeddedServiceSettings | ConfiguredServiceSettings

export interface EmbeddedServiceSettings {
  readonly kind: 'embedded'
  /** The directory in which the embedded library keeps its data. */
  readonly dataDir: string
}

export interface ConfiguredServiceSettings extends TokenSources {
  readonly kind: 'configured'
  /** For `shelfd serve`, which runs the embedded library even when a service is configured. */
  readonly dataDir: string
  readonly origin: string
  /** PEM file with additional certificate authorities. */
  readonly caFile: string | undefined
  readonly clientCertificate: ClientCertificateFiles | undefined
}

/** PEM files. */
export interface ClientCertificateFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly passphraseFile: string | undefined
}

/** At most one is given. */
export interface TokenSources {
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly tokenCommand: readonly string[] | undefined
}

export interface ConfiguredMirror {
  readonly name: string
  readonly path: string
  /** Identifier or exact name. */
  readonly library: string
  /** Canonical library path. */
  readonly remotePath: string
  readonly ignore: readonly string[]
  readonly maxSizeBytes: number | null
  readonly symlinks: 'skip'
  readonly watch: boolean
  readonly watcher: 'auto' | 'poll'
  readonly pollIntervalMs: number
  readonly settleMs: number
  readonly rescanMs: number | null
  /** Five-field cron. */
  readonly schedule: string | undefined
  readonly maxDurationMs: number | null
  readonly duplicates: 'skip' | 'link'
  readonly emptyFiles: 'upload' | 'skip'
  readonly oneFileSystem: boolean
}

/** Null means no limit, as does 0 for the two rates. */
export interface LimitSettings {
  readonly transfers: number
  readonly checkers: number
  readonly requestsPerSecond: number
  readonly bandwidthBytesPerSecond: number
  readonly inIngestion: number
  readonly newPerRun: number | null
  readonly newPerDay: number | null
  readonly newBytesPerRun: number | null
  /** The time that a command retries a service that does not answer. */
  readonly retryForMs: number
}

export interface IngestionSettings {
  readonly firstPollMs: number
  readonly maxPollMs: number
  readonly deadlineMs: number
}

/** Names of fields that the interface does not define. */
export interface ContractSettings {
  readonly createDirectory: 'auto' | { readonly path: string } | { readonly name: string; readonly parent: string }
  readonly createLibrary: 'auto' | { readonly name: string; readonly overview?: string | undefined }
  /** A field's name or `auto`; null when uploads always go to `.inbox`. */
  readonly uploadDirectoryField: string | null
}
