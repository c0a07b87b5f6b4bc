import type { DoctorContext } from '../../../app/doctor/doctor-context.ts'
import { CHECKS, type Checked, runChecks } from '../../../app/doctor/run-checks.ts'
import { configCandidates } from '../../../app/settings/config-paths.ts'
import { type ChosenConfig, createDraft, type Draft } from '../../../app/settings/draft.ts'
import { rebuildError, UsageError } from '../../../foundation/errors.ts'
import { pathInHome, withTilde } from '../../../foundation/files/home.ts'
import { escapeText } from '../../../foundation/text/safe-text.ts'
import type { CommandContext } from '../../context.ts'
import { showsSymbols } from '../../terminal/cli-io.ts'
import type { Prompts } from '../../terminal/prompts.ts'
import { renderFinding, SYMBOLS, WORDS } from '../doctor.ts'
import type { InitFlags } from '../init.ts'

export interface Wizard {
  readonly context: CommandContext
  readonly flags: InitFlags
  /** Undefined without a terminal: flags then give all answers. */
  readonly prompts: Prompts | undefined
  readonly configFile: string
}

export interface TypedToken {
  readonly file: string
  readonly text: string
}

export function configFileOf({ config, io }: CommandContext): string {
  return configCandidates(config, io)[0]?.file ?? pathInHome(io.home, '.config', 'shelfd', 'config.yaml')
}

export function shownPath({ context }: Wizard, path: string): string {
  return escapeText(withTilde(context.io.home, path))
}

/** Returns the address of the service from the flag or the variable; undefined if neither is set. */
export function givenUrl({ settingFlags, io }: CommandContext): string | undefined {
  return settingFlags['service-url'] ?? (io.env.SHELFD_SERVICE_URL || undefined)
}

export function draftOf({ context, configFile }: Wizard, chosen: ChosenConfig, token: TypedToken | undefined): Draft {
  const { io, settingFlags } = context
  return createDraft({ configFile, chosen, token, stateDir: settingFlags['state-dir'] }, io)
}

/** Throws UsageError for contradicting flags and, without a terminal, for missing ones. */
export function assertAnswered({ context, flags, prompts }: Wizard): void {
  if (flags.embedded && givenUrl(context) !== undefined) {
    const why = '--service-url and SHELFD_SERVICE_URL name a service, and take precedence over the configuration'
    throw new UsageError('bad-usage', `Cannot use --embedded: ${why}; leave them out`)
  }
  if (prompts) return
  const isForService = !flags.embedded
  const { SHELFD_TOKEN, SHELFD_TOKEN_FILE } = context.io.env
  const hasToken = flags.tokenFile !== undefined || Boolean(SHELFD_TOKEN) || Boolean(SHELFD_TOKEN_FILE)
  const missing = [
    flags.directories.length === 0 && 'DIR',
    isForService && givenUrl(context) === undefined && '--service-url URL (or --embedded)',
    isForService && !hasToken && '--token-file FILE',
    isForService && flags.library === undefined && '--library LIBRARY',
  ].filter((name) => name !== false)
  if (missing.length === 0) return
  throw new UsageError('bad-usage', `Cannot ask without a terminal; these answers are missing: ${missing.join(', ')}`)
}

/** Runs the named checks, prints their findings, and returns the first failure. */
export async function checkDraft(
  { context }: Wizard,
  doctor: DoctorContext,
  names: readonly string[],
): Promise<Checked | undefined> {
  const layout = {
    marks: showsSymbols(context.io) ? SYMBOLS : WORDS,
    nameWidth: Math.max(...names.map((name) => name.length)),
    columns: context.columns,
  }
  let failure: Checked | undefined
  for await (const finding of runChecks(
    CHECKS.filter(({ name }) => names.includes(name)),
    doctor,
  )) {
    // Before the configuration is written, only its faults are of interest.
    if (finding.check !== 'configuration' || finding.level !== 'ok')
      context.printMessage(renderFinding(finding, layout))
    if (finding.level === 'failed') failure ??= finding
  }
  return failure
}

/** Returns the error for a failed check, for a wizard that cannot ask the user. */
export function errorOfFailure({ code, message }: Checked): Error {
  return rebuildError(code ?? 'unexpected', message)
}
