/** The values of the configuration that a flag or a `SHELFD_*` variable can set. */
import { resolve } from 'node:path'
import { layOver, nest, type Raw } from './raw-settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Override {
  readonly path: readonly string[]
  readonly describe: string
  readonly isPath?: true
}

const value = (key: string, describe: string): Override => ({ path: key.split('.'), describe })
const file = (key: string, describe: string): Override => ({ ...value(key, describe), isPath: true })

/** Each override by its flag; the variable is `SHELFD_` and the flag in capitals. */
export const OVERRIDES = {
  'state-dir': file('stateDir', 'Directory for the state of shelfd'),
  'data-dir': file('dataDir', 'Directory for the data of the embedded library'),
  'log-format': value('log.format', 'Log as text or json'),
  embedder: value('embedder', 'How the embedded library compares meaning: offline or none'),
  'health-listen': value(
    'health.listen',
    'Where the daemon serves health and metrics: a loopback address and port, auto or none',
  ),
  'library-listen': value(
    'library.listen',
    'Where the daemon serves the embedded library with its page: a loopback address and port, or none',
  ),
  'service-url': value('service.url', 'Origin of the service'),
  'ca-file': file('service.caFile', 'PEM file with certificates of further trusted authorities'),
  'client-cert-file': file(
    'service.clientCertificate.certFile',
    'PEM file with the client certificate that the service demands',
  ),
  'client-key-file': file(
    'service.clientCertificate.keyFile',
    'PEM file with the private key of the client certificate',
  ),
  'client-passphrase-file': file('service.clientCertificate.passphraseFile', 'Passphrase file of the client key'),
  transfers: value('limits.transfers', 'Uploads or library listings at a time'),
  checkers: value('limits.checkers', 'Threads that list directories and hash files'),
  'requests-per-second': value('limits.requestsPerSecond', 'Requests in a second, 0 for no fixed limit'),
  bwlimit: value('limits.bandwidth', 'Bytes sent in a second, such as 2MB, or by time: "08:00,512K 18:00,off"'),
  'in-ingestion': value('limits.inIngestion', 'Resources in ingestion at the same time'),
  'max-new': value('limits.newPerRun', 'New files sent in this run, or none for no limit'),
  'max-new-per-day': value('limits.newPerDay', 'New files sent in 24 hours, or none'),
  'max-new-bytes': value('limits.newBytesPerRun', 'Bytes of new files sent in this run, such as 2GB'),
  'retry-for': value('limits.retryFor', 'How long to try a service that does not answer, such as 10m'),
  'first-poll': value('ingestion.firstPoll', 'Time from an upload to the first poll of its resource'),
  'ingestion-deadline': value('ingestion.deadline', 'How long a run follows the ingestion'),
} satisfies Record<string, Override>

export type SettingFlag = keyof typeof OVERRIDES
export type SettingFlags = Readonly<Partial<Record<SettingFlag, string>>>

export interface Layer {
  readonly raw: Raw
  readonly origins: ReadonlyMap<string, string>
}

export function variableOf(flag: string): string {
  return `SHELFD_${flag.toUpperCase().replaceAll('-', '_')}`
}

/** Returns the values that flags and variables set. A flag overrides its variable; an empty variable is ignored. */
export function readOverrides(flags: SettingFlags, env: Environment, cwd: string): Layer {
  let raw: Raw = {}
  const origins = new Map<string, string>()
  for (const flag of settingFlags) {
    const override = OVERRIDES[flag]
    const written = flags[flag] ?? (env[variableOf(flag)] || undefined)
    if (written === undefined) continue
    raw = layOver(raw, nest(override.path, override.isPath ? resolve(cwd, written) : written))
    origins.set(override.path.join('.'), flags[flag] === undefined ? variableOf(flag) : `--${flag}`)
  }
  return { raw, origins }
}

export const settingFlags: readonly SettingFlag[] = Object.keys(OVERRIDES).filter(isSettingFlag)

export function isSettingFlag(flag: string): flag is SettingFlag {
  return Object.hasOwn(OVERRIDES, flag)
}
