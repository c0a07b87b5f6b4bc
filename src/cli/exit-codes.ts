import { type ErrorCode, type ErrorKind, rebuildError, ShelfdError } from '../foundation/errors.ts'

/** The exit codes of the process, for the help texts and the documentation too. rules/run-outcome.ts says how a run ends. */
export const EXIT_CODES = {
  done: { code: 0, meaning: 'done' },
  failed: { code: 1, meaning: 'some files or ingestions failed' },
  usage: { code: 2, meaning: 'usage or configuration' },
  rootMissing: { code: 3, meaning: "a mirror's directory is missing or unreadable" },
  pending: { code: 4, meaning: 'everything sent, ingestion still pending at the deadline' },
  temporary: { code: 5, meaning: 'temporary, run again (service unreachable or throttling)' },
  refused: { code: 7, meaning: 'refused (credential, rights, wrong tenant)' },
  heldBack: { code: 8, meaning: 'held back by a limit or a guard' },
  locked: { code: 11, meaning: 'another instance holds the store' },
  operator: { code: 78, meaning: 'an operator must act (store damaged or of a newer version)' },
  interrupted: { code: 130, meaning: 'interrupted' },
} as const satisfies Record<string, { code: number; meaning: string }>

export type ExitName = keyof typeof EXIT_CODES

const BY_KIND: Readonly<Record<ErrorKind, ExitName>> = {
  usage: 'usage',
  root: 'rootMissing',
  temporary: 'temporary',
  access: 'refused',
  heldBack: 'heldBack',
  locked: 'locked',
  operator: 'operator',
  interrupted: 'interrupted',
  request: 'failed',
  doubt: 'failed',
  file: 'failed',
  internal: 'failed',
}

export function exitCodeOf(error: unknown): number {
  return EXIT_CODES[exitOf(error)].code
}

function exitOf(error: unknown): ExitName {
  if (!(error instanceof ShelfdError)) return 'failed'
  const { kind }: ShelfdError = error
  return BY_KIND[kind]
}

export function exitOfCode(code: ErrorCode | undefined): ExitName {
  return code === undefined ? 'failed' : exitOf(rebuildError(code, ''))
}

/** The exits from the worst on: what only a person can fix comes before what another run may fix. */
const FROM_THE_WORST: readonly ExitName[] = [
  'operator',
  'usage',
  'refused',
  'rootMissing',
  'heldBack',
  'locked',
  'failed',
  'temporary',
]

export function worstExit(exits: readonly ExitName[]): ExitName {
  return FROM_THE_WORST.find((exit) => exits.includes(exit)) ?? 'done'
}
