import { type ErrorCode, ShelfdError } from '../foundation/errors.ts'

const HINTS: Partial<Record<ErrorCode, string>> = {
  'bad-configuration': 'shelfd config path tells which file is read, shelfd config schema what it may hold',
  'unknown-mirror': 'shelfd mirrors list shows every mirror',
  'unknown-library': 'shelfd libraries list shows the libraries of this credential',
  'service-unreachable': 'shelfd whoami tells whether the service answers',
  'service-throttling': 'lower limits.transfers or limits.requestsPerSecond, or run again later',
  'credential-missing': 'shelfd whoami tells whether a credential works',
  'credential-refused': 'shelfd whoami tells whether a credential works',
  'right-missing': 'shelfd whoami lists the rights of this credential',
  'disk-full': 'make room in the state directory (shelfd config show), then run again',
  'store-locked': 'shelfd status shows what the other instance is doing',
}

/** What to do after an error; undefined when the message itself says it. */
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
