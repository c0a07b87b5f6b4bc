/** The table of codes: the meaning of each stands here, what to do about it in `src/app/hints-and-remedies.ts` where commands say it as well. */
import { adviceFor } from '../src/app/hints-and-remedies.ts'
import { commands } from '../src/cli/commands.ts'
import { EXIT_CODES, exitOfCode } from '../src/cli/exit-codes.ts'
import { type ErrorCode, errorCodes, fileErrorCodes } from '../src/foundation/errors.ts'
import { tableOf } from './table.ts'

export const ERRORS_PAGE = new URL('../docs/errors.md', import.meta.url)

const MARK =
  '<!-- From here on written by `npm run docs`, from .ci/errors-page.ts and src/app/hints-and-remedies.ts. -->'

/** The engine makes these codes from outcomes of ingestion; they belong to no error class. */
type IngestionCode = 'ingestion-partial' | 'ingestion-failed' | 'ingestion-unknown' | 'search-missed' | 'removed'

interface Explanation {
  readonly meaning: string
  /** What to do beyond, or in place of, the advice of the program. */
  readonly action?: string
  /** A part of the message, where it does not resemble the code. */
  readonly says?: string
}

const EXPLANATIONS: Readonly<Record<ErrorCode | IngestionCode, Explanation>> = {
  'bad-usage': {
    meaning: 'the command line cannot be understood',
    action: 'the message names the word; `shelfd COMMAND --help`',
  },
  'bad-configuration': { meaning: 'the configuration is wrong; the message names file, line and key' },
  'unknown-mirror': {
    meaning: 'no mirror has this name or directory, or it is no longer configured, or it was never synced',
  },
  'mirrors-overlap': {
    meaning: 'one mirror lies in another, or two mirror the same directory: files would be sent twice',
    says: 'lies in the mirror "…"',
    action: 'leave the inner one out by `ignore` or a `.shelfdignore`, or remove one of the two',
  },
  'unknown-library': {
    meaning: 'the credential shows no library of this name or identifier, or several of this name',
    says: 'there is no library "…"',
    action: '`shelfd libraries create` makes one; of several with one name, give the identifier',
  },
  'insecure-file': {
    meaning:
      'other users can change a file that decides what is run, sent or kept, or can read a secret ([who may decide](configuration.md#who-may-decide))',
    says: 'others can read it',
    action: 'run the command that the message names, such as `chmod 600 FILE`',
  },
  'running-as-root': {
    meaning: '`sync` or `daemon` would send to a configured service as root',
    says: 'Cannot mirror to … as root: …',
    action: 'run it as the user whose files these are, or see [as root](system-service.md#as-root)',
  },
  'old-node': { meaning: 'the Node that runs shelfd is older than 24', action: 'install Node 24' },
  'root-missing': {
    meaning:
      'the path does not exist or is not a directory, or the directory went away during the work; nothing was recorded as removed',
    says: 'went away while it was worked on',
  },
  'root-unreadable': {
    meaning: 'the directory may not be listed, or its file system does not answer within 5 s',
    says: 'does not answer: a network mount may be dead',
    action: 'when a mount does not answer, bring its server back, or `umount --force --lazy DIR` and mount it again',
  },
  'hook-failed': {
    meaning:
      'the command of `hooks` before or after a run failed; when it is the one before, the mirror was not scanned',
  },
  'service-unreachable': {
    meaning: 'no connection, or it broke, or the proxy has no connection; the reason stands in parentheses',
    says: 'does not answer',
    action: 'the next run continues, and the daemon tries again by itself ([networks](network.md))',
  },
  'service-unavailable': { meaning: 'the service answered 502, 503, 504, 408 or 425 several times' },
  'service-full': {
    meaning: 'the service answered 507: its disk, or that of the library on this computer, is full',
    action: 'then run the same command again: it sends the rest',
  },
  'service-error': { meaning: 'the service answered 500 or another 5xx; its own log has the reason' },
  'service-throttling': { meaning: 'the service answered 429, or asks to wait for more than a day' },
  'answer-malformed': {
    meaning: 'the answer does not match the interface: HTML, cut or oversized JSON, a listing that contradicts itself',
    says: 'perhaps a login page',
  },
  'answer-late': {
    meaning: 'no complete answer came in time',
    action: 'nothing: the next run continues, and the daemon tries again by itself',
  },
  'connection-closed': {
    meaning:
      'shelfd closed its connection while this request needed it, since another request had failed or the computer had slept',
    action: 'run it again; the log of the daemon names the failure',
  },
  'disk-full': {
    meaning: 'less than 64 MiB are free on the disk of the state directory',
    says: 'Cannot send anything: the disk of the store',
  },
  'ledger-away': { meaning: 'the [ledger](fleet.md) of hosts cannot be reached; nothing new is sent without it' },
  'credential-missing': {
    meaning: 'a service is configured, and no access token was found, or it cannot be read',
    says: 'no access token',
    action: 'other places for it are in [configuration](configuration.md#the-service)',
  },
  'credential-refused': {
    meaning: 'the service answered 401: the token is wrong, expired or revoked',
    says: 'credential refused',
  },
  'right-missing': {
    meaning: 'the service answered 403, or the credential lacks `resource.create` on the library',
    says: 'the credential lacks the right resource.create on the library "…"',
    action: 'make a token that has the right that the message names',
  },
  'origin-mismatch': {
    meaning: 'the mirror was first used with another service',
    action: 'run the command that the message names ([the life of a mirror](mirrors.md)), or restore `service.url`',
  },
  'tenant-mismatch': {
    meaning: 'the credential belongs to another tenant than the mirror',
    action: 'use a token of that tenant',
  },
  'library-mismatch': {
    meaning: 'the mirror belongs to another library or remote path, or its library is no longer shown',
    action: 'restore the setting, or give the mirror another name',
  },
  'root-mismatch': {
    meaning: "another directory or disk stands at the mirror's path",
    says: 'accepts it',
    action:
      'mount the right one. After a restore or a move: `shelfd sync NAME --accept-root` once. Otherwise give the mirror another name',
  },
  'redirect-refused': {
    meaning: 'the service redirects to the address that the message names',
    says: 'shelfd never follows redirects',
    action: 'sign in if it is a sign-in page of your network; otherwise set `service.url` to that address',
  },
  'certificate-refused': {
    meaning:
      'the certificate of the service or proxy is expired, not yet valid, of another host, signed by itself, or of an unknown authority',
    says: 'is not trusted (…)',
    action:
      'the message says which and what to do ([certificates](network.md#certificates)); the check cannot be switched off',
  },
  'client-certificate-refused': {
    meaning: 'the service demands a client certificate and none is configured, or refuses the configured one',
    action: 'see [a certificate of your own](network.md#a-certificate-of-your-own)',
  },
  'proxy-refused': {
    meaning: 'the proxy asks for credentials, refuses them, or refuses connections to the service',
    action: 'the message names the proxy and its variable ([proxies](network.md#proxies))',
  },
  'ledger-refused': {
    meaning:
      'PostgreSQL refuses the role, its password, its rights or the database; or its certificate is not trusted; or it asks for the password by a way that shelfd does not use without encryption',
    action:
      'the message names the database and the role; correct `fleet`, or ask the owner of the database for the right',
  },
  'limit-reached': {
    meaning: 'a limit of this run ended it',
    says: 'held back by limits.…',
    action: 'run it again, or raise the limit',
  },
  'root-emptied': {
    meaning:
      'most files of the directory are gone, or none of its files is there and others are ([guards](behaviour.md#guards))',
    says: 'are gone from "…"',
    action:
      'mount or plug in the right disk. If the files are gone on purpose: `shelfd sync NAME --accept-removals` once',
  },
  'confirmation-needed': {
    meaning: 'the command asks for a confirmation that was not given',
    says: 'continues with what is there; it is not paid for again',
    action:
      'the message names the flag: `sync --adopt`, `sync --yes`, `libraries delete --confirm`, `mirrors forget --yes`',
  },
  'store-locked': {
    meaning: 'another shelfd holds the state; nothing was changed',
    says: 'The state in … is held by …',
  },
  'library-locked': {
    meaning: 'another shelfd holds the embedded library and does not answer, or both are servers of it',
  },
  'store-newer': {
    meaning: 'the state was written by a newer shelfd',
    says: 'was written by a newer version',
    action: 'install that version, or use another `--state-dir`',
  },
  'store-damaged': {
    meaning: 'the state is damaged, gone, an older copy, or was changed by another program',
    says: 'is damaged',
    action: 'restore the whole directory from a backup, or move it away and run `shelfd sync --adopt`',
  },
  'store-unusable': {
    meaning:
      "the state, or the embedded library's data, cannot be read or written, or something else lies in the place of one of its files",
    action: 'correct what the message names, then run it again',
  },
  'too-many-open-files': {
    meaning: 'the process or the system may not open more files',
    action: 'raise the limit (`ulimit -n`, `LimitNOFILE=` of a systemd unit)',
  },
  'library-damaged': {
    meaning: "the embedded library's data are damaged",
    action: 'then restore the data directory, or move it away',
  },
  'ledger-unusable': {
    meaning:
      'the database holds no ledger or an older one, or PostgreSQL cannot hold one: older than 14, `fsync = off`, not in UTF-8, another isolation of transactions; or a bound of the ledger is reached',
    action: 'the message says which and what to do',
  },
  'ledger-newer': { meaning: 'a newer shelfd has upgraded the ledger', action: 'install that version on this host' },
  'host-in-use': {
    meaning: 'another process uses the ledger under the key of this host, or the state directory was copied or moved',
    action: 'see [a host that is gone](fleet.md#a-host-that-is-gone)',
  },
  interrupted: {
    meaning: 'a signal stopped shelfd, or the daemon that the command asked',
    action: 'run it again: it continues',
  },
  'not-found': { meaning: 'the service answered 404 or 410', action: 'check the identifier or the path' },
  conflict: {
    meaning: '409: something with this name exists already',
    action: 'choose another name, or use what exists',
  },
  'too-large': {
    meaning: '413: the service takes no file of this size',
    action: 'leave it out, or set `maxSize`; it is tried again after a day',
  },
  invalid: { meaning: '400 or 422; the message shows the fields and their errors', action: 'correct these fields' },
  'request-rejected': {
    meaning: 'the service refused the request with another status',
    action: 'the message has its words',
  },
  'upload-in-doubt': {
    meaning: 'it is not known whether the service stored an upload',
    says: 'not known whether it arrived',
    action: 'nothing: the next run looks in the library before it sends again',
  },
  unexpected: {
    meaning: 'a fault of shelfd itself',
    action: 'run it with `-vv`, and report it with `shelfd bug-report`',
  },
  busy: {
    meaning: 'a program is writing the file: it changed again after shelfd had waited for `settle`',
    says: 'it changed while it was read',
    action: 'nothing: the next run sends it',
  },
  vanished: {
    meaning: 'the file was gone when it was to be sent, or something else stood in its place',
    action: 'nothing, unless you did not expect that',
  },
  unreadable: {
    meaning: 'the user that runs shelfd may not read the file or directory; what was sent of it stays recorded',
    says: 'permission denied',
    action: 'give the right to read, leave it out by `ignore`, or set it aside by `shelfd failed ignore`',
  },
  'outside-root': {
    meaning: 'its path leads out of the mirrored directory',
    action: 'a program swaps directories for links; find out which',
  },
  unsupported: {
    meaning: 'something that is not a file took its place while it was read',
    action: 'nothing: the next run says what it is',
  },
  'over-max-size': {
    meaning: 'the file is larger than `maxSize`',
    action: 'raise `maxSize`, or leave it out with an ignore rule',
  },
  'name-not-utf8': { meaning: 'its name is not UTF-8', says: 'its name is not UTF-8', action: 'rename the file' },
  'not-recorded': {
    meaning: 'the state cannot hold what the system says of the file: its times, its size or its inode',
    action: 'give it another date (`touch`), or leave it out, and report it',
  },
  'io-error': { meaning: 'the system could not read it', action: 'look at the disk' },
  'ingestion-partial': {
    meaning: 'the service processed it incompletely',
    action: 'open the document, and look at the resource in the service',
  },
  'ingestion-failed': {
    meaning: 'the service could not process it, or no longer knows it',
    says: 'ingestion ended …',
    action: 'open the document: save a damaged or encrypted one again, and it is sent as a new one',
  },
  'ingestion-unknown': {
    meaning: 'the service reports a state that the interface does not have; it never counts as searchable',
    action: 'look at the resource in the service',
  },
  'search-missed': {
    meaning: '`sync --verify-search` did not find a document that the service reports as searchable',
    action: 'search for its words by hand; ask who runs the service',
  },
  removed: {
    meaning:
      '`shelfd library remove` took it out of the library on this computer; no run sends it or fails because of it',
    action: 'nothing; `shelfd failed retry` sends it again',
  },
}

const SINGLE_REQUESTS = 'Exit 1, and problems of single requests'
const FILES = 'Problems of files'
const INGESTION = 'Problems of ingestion'

/** The page of errors: what people wrote above the mark, then a table for each exit code. */
export function renderErrorsPage(current: string): string {
  const [written = ''] = current.split(MARK)
  const groups = Map.groupBy(Object.entries(EXPLANATIONS), ([code]) => groupOf(code))
  const order = [...groups].toSorted(([a], [b]) => rankOf(a) - rankOf(b))
  const tables = order.map(([title, rows]) => `## ${title}\n\n${tableOf(TITLES, rows.map(rowOf))}`)
  return `${written}${MARK}\n\n${tables.join('\n\n')}\n`
}

/** The parts of messages that the page shows, for the test that looks for them in the program. */
export const shownMessages: readonly string[] = Object.values(EXPLANATIONS).flatMap(({ says = [] }) => says)

const TITLES = ['code', 'meaning', 'what to do', 'the message has']

function rowOf([code, { meaning, action, says }]: readonly [string, Explanation]): string[] {
  const known = errorCodes.find((each) => each === code)
  const advice = [known && adviceFor(known), action].filter((part) => part !== undefined)
  return [`\`${code}\``, meaning, advice.map(withCommandsMarked).join('; '), says === undefined ? '' : `\`${says}\``]
}

/** Sets the commands of a plain text as code. */
function withCommandsMarked(text: string): string {
  return text.replaceAll(COMMAND, (command) => `\`${command.replaceAll('"', '')}\``)
}

const COMMAND = new RegExp(
  `(?<!\`)"?shelfd (?:${commands
    .map(({ name }) => name)
    .toSorted((a, b) => b.length - a.length)
    .join('|')})\\b"?`,
  'g',
)

function groupOf(code: string): string {
  const known = errorCodes.find((each) => each === code)
  if (known === undefined) return INGESTION
  if (fileErrorCodes.has(known)) return FILES
  const { code: exit, meaning } = EXIT_CODES[exitOfCode(known)]
  return exit === EXIT_CODES.failed.code ? SINGLE_REQUESTS : `Exit ${exit}: ${meaning}`
}

function rankOf(title: string): number {
  const exit = Number(/^Exit (\d+):/.exec(title)?.[1])
  return Number.isNaN(exit) ? 1_000 + [SINGLE_REQUESTS, FILES, INGESTION].indexOf(title) : exit
}
