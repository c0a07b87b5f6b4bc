/** The values of the configuration that a flag or a `SHELFD_*` variable can set. */
import { resolve } from 'node:path'
import { layOver, nest, type Raw } from './raw-settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Override {
  readonly path: readonly string[]
  readonly describe: string
  readonly isPath?: true
}

/** Each override by its flag; the variable is `SHELFD_` and the flag in capitals. */
export const OVERRIDES = {
  'state-dir': { path: ['stateDir'], describe: 'Directory for the state of shelfd', isPath: true },
  'data-dir': { path: ['dataDir'], describe: 'Directory for the data of the embedded library', isPath: true },
  'log-format': { path: ['log', 'format'], describe: 'Log as text or json' },
  embedder: { path: ['embedder'], describe: 'By what the embedded library compares meaning: offline or none' },
  'health-listen': {
    path: ['health', 'listen'],
    describe: 'Where the daemon serves health and metrics: a loopback address and port, auto or none',
  },
  'library-listen': {
    path: ['library', 'listen'],
    describe: 'Where the daemon serves the embedded library with its page: a loopback address and port, or none',
  },
  'service-url': { path: ['service', 'url'], describe: 'Origin of the service' },
  'ca-file': {
    path: ['service', 'caFile'],
    describe: 'PEM file with certificates of further trusted authorities',
    isPath: true,
  },
  'client-cert-file': {
    path: ['service', 'clientCertificate', 'certFile'],
    describe: 'PEM file with the client certificate that the service demands',
    isPath: true,
  },
  'client-key-file': {
    path: ['service', 'clientCertificate', 'keyFile'],
    describe: 'PEM file with the private key of the client certificate',
    isPath: true,
  },
  'client-passphrase-file': {
    path: ['service', 'clientCertificate', 'passphraseFile'],
    describe: 'File with the passphrase of that key',
    isPath: true,
  },
  transfers: { path: ['limits', 'transfers'], describe: 'Uploads at the same time' },
  checkers: { path: ['limits', 'checkers'], describe: 'Files hashed at the same time' },
  'requests-per-second': {
    path: ['limits', 'requestsPerSecond'],
    describe: 'Requests in a second, 0 for no fixed limit',
  },
  bwlimit: {
    path: ['limits', 'bandwidth'],
    describe: 'Bytes sent in a second, such as 2MB, or by time: "08:00,512K 18:00,off"',
  },
  'in-ingestion': { path: ['limits', 'inIngestion'], describe: 'Resources in ingestion at the same time' },
  'max-new': { path: ['limits', 'newPerRun'], describe: 'New files sent in this run, or none for no limit' },
  'max-new-per-day': { path: ['limits', 'newPerDay'], describe: 'New files sent in 24 hours, or none' },
  'max-new-bytes': {
    path: ['limits', 'newBytesPerRun'],
    describe: 'Bytes of new files sent in this run, such as 2GB',
  },
  'retry-for': {
    path: ['limits', 'retryFor'],
    describe: 'How long to try a service that does not answer, such as 10m',
  },
  'first-poll': { path: ['ingestion', 'firstPoll'], describe: 'Time from an upload to the first poll of its resource' },
  'ingestion-deadline': { path: ['ingestion', 'deadline'], describe: 'How long a run follows the ingestion' },
} as const satisfies Record<string, Override>

export type SettingFlag = keyof typeof OVERRIDES
export type SettingFlags = Readonly<Partial<Record<SettingFlag, string>>>

export interface Layer {
  readonly raw: Raw
  readonly origins: ReadonlyMap<string, string>
}

export function variableOf(flag: string): string {
  return `SHELFD_${flag.toUpperCase().replaceAll('-', '_')}`
}

/** Flags take precedence, and empty variables are ignored. */
export function readOverrides(flags: SettingFlags, env: Environment, cwd: string): Layer {
  let raw: Raw = {}
  const origins = new Map<string, string>()
  for (const [flag, override] of overrideEntries()) {
    const given = flags[flag] ?? (env[variableOf(flag)] || undefined)
    if (given === undefined) continue
    raw = layOver(raw, nest(override.path, override.isPath ? resolve(cwd, given) : given))
    origins.set(override.path.join('.'), flags[flag] === undefined ? variableOf(flag) : `--${flag}`)
  }
  return { raw, origins }
}

function overrideEntries(): [SettingFlag, Override][] {
  return settingFlags.map((flag) => [flag, OVERRIDES[flag]])
}

export const settingFlags: readonly SettingFlag[] = Object.keys(OVERRIDES).filter(isSettingFlag)

export function isSettingFlag(flag: string): flag is SettingFlag {
  return Object.hasOwn(OVERRIDES, flag)
}
