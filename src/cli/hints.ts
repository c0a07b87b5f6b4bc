import { type ErrorCode, ShelfdError } from '../foundation/errors.ts'

const HINTS: Partial<Record<ErrorCode, string>> = {
  'bad-configuration': 'shelfd config path shows which file is read, shelfd config schema its keys',
  'unknown-mirror': 'shelfd mirrors list shows every mirror',
  'unknown-library': 'shelfd libraries list shows the libraries of this credential',
  'service-unreachable': 'shelfd doctor checks the name, the connection, the proxy and the certificate',
  'answer-malformed':
    'open the address in a browser: if this network asks for a sign-in, sign in; otherwise correct service.url',
  'service-throttling': 'lower limits.transfers or limits.requestsPerSecond, or run again later',
  'credential-missing': 'shelfd doctor checks the credential and its rights',
  'credential-refused': 'shelfd doctor checks the credential and its rights',
  'right-missing': 'shelfd whoami lists the rights of this credential',
  'disk-full': 'free space on the disk of the state directory (shelfd config show), then run again',
  'store-locked': 'shelfd status shows what the other instance is doing',
}

/** What to do after an error; undefined when its message contains that already. */
export function hintFor(error: unknown, commandName: string | undefined): string | undefined {
  if (!(error instanceof ShelfdError)) return undefined
  const code: ErrorCode = error.code
  const hint = HINTS[code]
  // A hint must not suggest the command that has just failed.
  if (code !== 'bad-usage') return commandName && hint?.startsWith(`shelfd ${commandName} `) ? undefined : hint
  return commandName === undefined
    ? 'shelfd --help lists the commands'
    : `shelfd ${commandName} --help shows its arguments`
}
