import { type ErrorCode, ShelfdError } from '../foundation/errors.ts'

interface Advice {
  /** The line below the error that ended a command. */
  readonly hint?: string
  /** The remedy beside a finding of the doctor. */
  readonly remedy?: string
}

const NEW_TOKEN: Advice = {
  hint: 'shelfd doctor checks the credential and its rights',
  remedy: 'create a token on the Access Tokens page of the service, and put it into service.tokenFile',
}

const ADVICE: Partial<Record<ErrorCode, Advice>> = {
  'bad-configuration': {
    hint: 'shelfd config path shows which file is read, shelfd config schema its keys',
    remedy: 'correct it; "shelfd config schema" shows what it may hold',
  },
  'unknown-mirror': { hint: 'shelfd mirrors list shows every mirror' },
  'unknown-library': { hint: 'shelfd libraries list shows the libraries of this credential' },
  'root-missing': { remedy: 'mount or restore it, or take the mirror out of the configuration' },
  'hook-failed': {
    remedy: 'run that command yourself, then correct it or the key "hooks" of the configuration',
  },
  'root-unreadable': { remedy: 'give this user the right to read it, or mount it again' },
  'service-unreachable': {
    hint: 'shelfd doctor checks the name, the connection, the proxy and the certificate',
    remedy: 'correct service.url, check the network connection, or ask whoever runs the service',
  },
  'service-unavailable': { remedy: 'wait, or ask whoever runs the service' },
  'service-error': { remedy: 'ask whoever runs the service' },
  'service-throttling': {
    hint: 'lower limits.transfers or limits.requestsPerSecond, or run again later',
    remedy: 'wait, or lower limits.requestsPerSecond',
  },
  'answer-malformed': {
    hint: 'open the address in a browser: if this network asks for a sign-in, sign in; otherwise correct service.url',
    remedy: 'open the address in a browser: sign in if this network asks for it, otherwise correct service.url',
  },
  'credential-missing': NEW_TOKEN,
  'credential-refused': NEW_TOKEN,
  'right-missing': { hint: 'shelfd whoami lists the rights of this credential' },
  'ledger-away': {
    remedy: 'check that PostgreSQL runs there and that this host reaches it, or correct fleet.database',
  },
  'disk-full': { hint: 'free space on the disk of the state directory (shelfd config show), then run again' },
  'service-full': {
    hint: 'free space on that disk, then run the same command again: it sends the rest',
    remedy: 'free space on the disk of the library, or ask whoever runs the service',
  },
  'store-locked': { hint: 'shelfd status shows what the other instance is doing' },
  'library-locked': { hint: 'wait until that process has ended, or stop it; then run again' },
  'library-damaged': { remedy: 'shelfd serve check' },
}

export function hintFor(error: unknown, commandName: string | undefined): string | undefined {
  if (!(error instanceof ShelfdError)) return undefined
  const code: ErrorCode = error.code
  if (code === 'bad-usage') {
    return commandName === undefined
      ? 'shelfd --help lists the commands'
      : `shelfd ${commandName} --help shows how it is called`
  }
  const hint = ADVICE[code]?.hint
  // A hint must not suggest the command that has just failed.
  return commandName && hint?.startsWith(`shelfd ${commandName} `) ? undefined : hint
}

/** Returns what docs/errors.md says to do about this code. */
export function adviceFor(code: ErrorCode): string | undefined {
  return remedyFor(code) ?? ADVICE[code]?.hint
}

/** Returns the doctor's advice for an error; undefined if the error's own message already gives it. */
export function remedyFor(code: ErrorCode): string | undefined {
  return ADVICE[code]?.remedy
}
