import { hostname } from 'node:os'
import { basename } from 'node:path'
import { z } from 'zod'
import { DEFAULT_LEASE_MS } from '../../rules/lease.ts'
import { LIMIT_BOUNDS } from '../../rules/limits.ts'
import {
  bandwidth,
  choice,
  count,
  countOrNone,
  cron,
  databaseAddress,
  duration,
  durationOrNone,
  durationWithin,
  field,
  flag,
  includePattern,
  libraryPath,
  listenAddress,
  origin,
  path,
  positiveDuration,
  rate,
  secretAddress,
  sizeOrNone,
  text,
  timeZone,
  webAddress,
} from './values.ts'

const clientCertificate = z.strictObject({
  certFile: path.describe('PEM file with the certificate, followed by its intermediate certificates.'),
  keyFile: path.describe('PEM file with its private key, mode 0600.'),
  passphraseFile: path.optional().describe('File with the passphrase of the key and nothing else, mode 0600.'),
})

const service = z
  .strictObject({
    url: origin().describe('Origin of the service: scheme, host and port only; https unless the host is loopback.'),
    token: text
      .optional()
      .describe('The access token itself; a file of its own (tokenFile) is better. This file then needs mode 0600.'),
    tokenFile: path.optional().describe('File with the access token and nothing else, mode 0600.'),
    tokenCommand: z
      .array(text, 'a list: the program and its arguments')
      .min(1)
      .optional()
      .describe('Program and arguments that print the access token, for instance ["pass", "show", "shelfd"].'),
    caFile: path
      .optional()
      .describe('PEM file with certificates of further trusted authorities, such as that of an office.'),
    clientCertificate: clientCertificate
      .optional()
      .describe('The certificate with which shelfd shows the service who it is, where the service demands one.'),
  })
  .transform(({ url, ...others }) => ({ kind: 'configured' as const, origin: url, ...others }))
  .describe('A configured Knowledge Library Service. Without this section the embedded library is used.')

const hookCommand = () => z.array(text, 'a list: the program and its arguments').min(1).optional()

const hooks = z
  .strictObject({
    before: hookCommand().describe(
      'A program and its arguments, run before the directory is scanned, such as one that mounts it or takes a snapshot. When it fails, the mirror is not scanned.',
    ),
    after: hookCommand().describe('A program and its arguments, run at the end of each run, whatever its result.'),
    timeout: positiveDuration().prefault('5m').describe('A command that takes longer is killed, and counts as failed.'),
  })
  .transform(({ timeout, ...others }) => ({ ...others, timeoutMs: timeout }))

const mirror = z
  .strictObject({
    name: z
      .string('a name')
      .regex(/^[^/\p{Cc}]{1,100}$/u, 'a name of up to 100 characters, without "/"')
      .optional()
      .describe('Name of the mirror; the name of its directory by default.'),
    path: path.describe('The local directory; shelfd only reads it.'),
    library: text
      .optional()
      .describe('Identifier or exact name of the library; the embedded library creates one named after the directory.'),
    remotePath: libraryPath()
      .optional()
      .describe('Path of the directory in the library; /<name of the directory> by default.'),
    include: z
      .array(includePattern(), 'a list of patterns')
      .prefault([])
      .describe('Mirror only files that one of these patterns matches, in gitignore syntax; by default all.'),
    ignore: z
      .array(text, 'a list of patterns')
      .prefault([])
      .describe('Patterns in gitignore syntax, added to the built-in list and .shelfdignore files.'),
    gitignore: flag().prefault(false).describe('Also apply the .gitignore files in the directory.'),
    maxSize: sizeOrNone().prefault('2GB').describe('Larger files are not sent; each is reported as a problem.'),
    symlinks: choice(['skip']).prefault('skip').describe('Symbolic links are never followed.'),
    watch: flag().prefault(true).describe('Watch for changes (daemon).'),
    watcher: choice(['auto', 'poll'])
      .prefault('auto')
      .describe('The watcher: auto chooses by platform and file system, poll scans every pollInterval.'),
    pollInterval: positiveDuration()
      .prefault('30s')
      .describe('Interval between scans where the system does not report all changes, as on network file systems.'),
    settle: duration()
      .prefault('1m')
      .describe(
        'How long a file must stay unchanged before it is sent (embedded library: 5s), as a service charges each version.',
      ),
    rescan: durationOrNone()
      .prefault('1h')
      .describe('How often the daemon scans everything, even if the watcher reports no changes.'),
    schedule: cron()
      .optional()
      .describe('Send in batches at these times instead of at once: five-field cron (daemon).'),
    maxDuration: durationOrNone().prefault('none').describe('A batch that has run this long starts no new upload.'),
    emptyFiles: choice(['upload', 'skip']).prefault('upload').describe('What happens to files without content.'),
    oneFileSystem: flag().prefault(false).describe('Leave out what is mounted inside the directory.'),
    hooks: hooks.optional().describe('Commands before and after each run of this mirror, in place of those for all.'),
  })
  .transform(({ maxSize, pollInterval, settle, rescan, maxDuration, path, ...others }) => ({
    ...others,
    path,
    name: others.name ?? directoryName(path),
    library: others.library ?? directoryName(path),
    remotePath: others.remotePath ?? `/${directoryName(path)}`,
    maxSizeBytes: maxSize,
    pollIntervalMs: pollInterval,
    settleMs: settle,
    rescanMs: rescan,
    maxDurationMs: maxDuration,
  }))

function directoryName(path: string): string {
  return basename(path) || 'root'
}

const limits = z
  .strictObject({
    transfers: count(LIMIT_BOUNDS.transfers)
      .prefault(4)
      .describe('Uploads or library listings at a time (embedded: 32).'),
    checkers: count(LIMIT_BOUNDS.checkers).prefault(2).describe('Threads that list directories and hash files.'),
    requestsPerSecond: rate(LIMIT_BOUNDS.requestsPerSecond)
      .prefault(0)
      .describe('0: no fixed limit, the rate adapts to the service.'),
    bandwidth: bandwidth()
      .prefault(0)
      .describe('Bytes sent in a second, or by time of day: "08:00,512K 18:00,off"; 0 or off: no fixed limit.'),
    inIngestion: count(LIMIT_BOUNDS.inIngestion)
      .prefault(200)
      .describe('Resources in ingestion at the same time (embedded library: 5000).'),
    newPerRun: countOrNone(LIMIT_BOUNDS.newContents)
      .prefault(5000)
      .describe('New files sent in one run (embedded library: none).'),
    newPerDay: countOrNone(LIMIT_BOUNDS.newContents)
      .prefault(20_000)
      .describe('New files sent in 24 hours (embedded library: none).'),
    retryFor: duration()
      .prefault('2m')
      .describe('How long a command retries a service that does not answer; the daemon retries for ever.'),
    newBytesPerRun: sizeOrNone().prefault('none').describe('Bytes of new files sent in one run.'),
  })
  .transform(({ retryFor, ...others }) => ({ ...others, retryForMs: retryFor }))

const ingestion = z
  .strictObject({
    firstPoll: positiveDuration()
      .prefault('2s')
      .describe('Time from an upload to the first poll of its resource (embedded library: 100ms).'),
    maxPoll: positiveDuration()
      .prefault('60s')
      .describe('Longest interval between two polls of a resource; the intervals grow up to it.'),
    deadline: positiveDuration()
      .prefault('6h')
      .describe('How long a run waits for the ingestion of a resource; later runs poll it again.'),
  })
  .transform(({ firstPoll, maxPoll, deadline }) => ({
    firstPollMs: firstPoll,
    maxPollMs: Math.max(firstPoll, maxPoll),
    deadlineMs: deadline,
  }))

const contract = z.strictObject({
  createDirectory: z
    .union(
      [z.literal('auto'), z.strictObject({ path: field }), z.strictObject({ name: field, parent: field })],
      'auto, {path: FIELD} or {name: FIELD, parent: FIELD}',
    )
    .prefault('auto')
    .describe('Fields of the create-directory request; auto reads them from the description of the instance.'),
  createLibrary: z
    .union(
      [z.literal('auto'), z.strictObject({ name: field, overview: field.optional() })],
      'auto or {name: FIELD, overview: FIELD}',
    )
    .prefault('auto')
    .describe('Fields of the create-library request.'),
  uploadDirectoryField: field
    .transform((name) => (name === 'none' ? null : name))
    .prefault('auto')
    .describe('Field of the upload that names the directory to land in; auto, none or its name.'),
})

const maintenance = z
  .strictObject({
    start: cron().describe('When it begins: five-field cron.'),
    duration: positiveDuration().describe('How long it lasts.'),
  })
  .transform(({ start, duration }) => ({ start, durationMs: duration }))

const embedder = z
  .union(
    [
      z.literal('offline'),
      z.literal('none'),
      z.strictObject({ url: webAddress(), model: text, keyFile: path.optional() }),
    ],
    'offline, none or {url: ADDRESS, model: NAME, keyFile: FILE}',
  )
  .transform((chosen) => (typeof chosen === 'string' ? { kind: chosen } : { kind: 'endpoint' as const, ...chosen }))
  .prefault('offline')
  .describe(
    'How a balanced search of the embedded library compares meaning: offline (English), none, or by an OpenAI-compatible endpoint.',
  )

const webhook = z.strictObject({
  url: secretAddress().describe(
    'Where messages are posted; a secret, so this file needs mode 0600. https, or http on this computer.',
  ),
})

const notify = z
  .strictObject({
    command: z
      .array(text, 'a list: the program and its arguments')
      .min(1)
      .optional()
      .describe('A program that gets the text on stdin, and SHELFD_EVENT and SHELFD_SUBJECT in its environment.'),
    webhooks: z
      .array(webhook, 'a list of webhooks')
      .prefault([])
      .describe('Addresses that messages are posted to, as JSON.'),
    noSuccessFor: durationOrNone()
      .prefault('24h')
      .describe('Also notify when a mirror has not been up to date for this long.'),
  })
  .transform(({ noSuccessFor, ...others }) => ({ ...others, noSuccessForMs: noSuccessFor }))
  .describe('Who is notified when something fails, and when it works again; nobody by default.')

const fleet = z
  .strictObject({
    database: databaseAddress().describe(
      'The PostgreSQL database with the ledger: postgres://ROLE@HOST/DATABASE; encrypted and verified unless the host is this computer.',
    ),
    passwordFile: path.optional().describe("File with the role's password and nothing else, mode 0600."),
    passwordCommand: z
      .array(text, 'a list: the program and its arguments')
      .min(1)
      .optional()
      .describe("Program and arguments that print the role's password."),
    caFile: path.optional().describe('PEM file with certificates of further trusted authorities.'),
    clientCertificate: clientCertificate
      .optional()
      .describe('The certificate with which shelfd shows PostgreSQL who it is.'),
    host: text.optional().describe('Name of this host for people; that of the system by default.'),
    lease: durationWithin('15s', '10m')
      .prefault(`${DEFAULT_LEASE_MS / 1_000}s`)
      .describe(
        'How long a host may act after its last heartbeat. Used when the ledger is created; after that the value in the ledger counts.',
      ),
    publish: choice(['names', 'counts'])
      .prefault('names')
      .describe('What other hosts show of this one. names: paths of files and messages, too; counts: numbers only.'),
  })
  .transform(({ lease, host = hostname(), ...others }) => ({ ...others, host, leaseMs: lease }))
  .describe('For several hosts that mirror into the same libraries; a single host needs none of it.')

export const configSchema = z
  .strictObject({
    service: service.optional(),
    mirrors: z
      .array(mirror, 'a list of mirrors')
      .prefault([])
      .describe('Local directories and the library paths they belong to.'),
    limits: limits.prefault({}),
    ingestion: ingestion.prefault({}),
    contract: contract.prefault({}).describe('Request fields that the interface does not specify.'),
    scrub: z
      .strictObject({ interval: durationOrNone().prefault('30d').describe('How often every file is hashed again.') })
      .prefault({}),
    timeZone: timeZone()
      .optional()
      .describe('Time zone of schedules, such as Europe/Berlin; that of the system by default.'),
    maintenance: z
      .array(maintenance, 'a list of windows')
      .prefault([])
      .describe('Windows in which the daemon uploads nothing; it continues to watch.'),
    health: z
      .strictObject({
        listen: listenAddress('127.0.0.1:9847', 'auto', 'none')
          .prefault('auto')
          .describe(
            'Where the daemon serves /healthz, /readyz and /metrics: a loopback address and port, none, or auto (127.0.0.1:9847 under a service manager, else none).',
          ),
      })
      .prefault({}),
    library: z
      .strictObject({
        listen: listenAddress('127.0.0.1:8800', 'none')
          .prefault('none')
          .describe(
            'Where the daemon serves the embedded library with its page to browsers and programs: a loopback address and port, or none (a port that changes with each start).',
          ),
      })
      .prefault({}),
    notify: notify.prefault({}),
    hooks: hooks.optional().describe('Commands before and after each run of every mirror.'),
    fleet: fleet.optional(),
    log: z
      .strictObject({
        format: choice(['auto', 'text', 'json'])
          .prefault('auto')
          .describe('auto: json under a service manager, else text.'),
      })
      .prefault({}),
    stateDir: path.optional().describe('Where shelfd keeps its own state; $XDG_STATE_HOME/shelfd by default.'),
    dataDir: path
      .optional()
      .describe('Where the embedded library keeps its data; $XDG_DATA_HOME/shelfd/library by default.'),
    embedder,
  })
  .describe('Configuration of shelfd')

export type Config = z.infer<typeof configSchema>

/** Defaults with the embedded library, which costs nothing and answers at once. */
export const EMBEDDED_DEFAULTS = {
  limits: { transfers: 32, inIngestion: 5000, newPerRun: 'none', newPerDay: 'none' },
  ingestion: { firstPoll: '100ms' },
}

/** Defaults of each mirror with the embedded library, where versions of a file cost nothing. */
export const EMBEDDED_MIRROR_DEFAULTS = { settle: '5s' }

/** Returns a mirror that is not configured, with the defaults of the service for all but its directory and target. */
export function adHocMirror(
  { kind }: { readonly kind: 'embedded' | 'configured' },
  path: string,
  target: { library?: string; remotePath?: string } = {},
): Readonly<Config['mirrors'][number]> {
  const written = { path, ...(kind === 'embedded' && EMBEDDED_MIRROR_DEFAULTS) }
  return { ...mirror.parse(written, { jitless: true }), ...target }
}

/** Returns the schema for editors, which is also in config/config.schema.json. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input' })
  return `${JSON.stringify({ title: 'shelfd configuration', ...schema }, null, 2)}\n`
}
