import type { Environment } from '../settings/overrides.ts'

/** One program to run, without a shell. */
export interface ProgramCall {
  readonly program: string
  readonly args: readonly string[]
  /** A failure is ignored, for example when stopping a service that is not running. */
  readonly mayFail?: true
}

/** The user, the system and the scope of a service. */
export interface PlanInput {
  readonly platform: NodeJS.Platform
  /** One service for the whole machine instead of the user's own. */
  readonly isSystem: boolean
  /** Home directory, absolute. */
  readonly home: string
  readonly env: Environment
  readonly user: { readonly uid: number; readonly name: string }
}

/** Values for the template of the definition. */
export interface Filling {
  /** Program and arguments, absolute. */
  readonly command: readonly string[]
  /** A file that the service manager passes as the credential `token`. */
  readonly tokenFile: string | undefined
}

/** How one service manager installs, runs and shows the daemon: data without actions, so that it can be inspected. */
export interface SystemServicePlan {
  /** Template of the definition, a file in `service/`. */
  readonly template: string
  /** Absolute path of the definition. */
  readonly file: string
  /** Fills the template; throws UsageError('bad-usage') for what the service manager cannot do. */
  fill(template: string, filling: Filling): string | Uint8Array
  /** A call that succeeds if the service manager answers, and what to tell otherwise. Absent where there is always one. */
  readonly reach?: { readonly call: ProgramCall; readonly otherwise: string }
  /** After the file is written: registers the service and enables its automatic start. */
  readonly enable: readonly ProgramCall[]
  /** After `enable`: starts the service, or restarts it when it runs. */
  readonly launch: readonly ProgramCall[]
  readonly start: ProgramCall
  readonly stop: ProgramCall
  readonly disable: readonly ProgramCall[]
  /** After the file is removed. */
  readonly forget: readonly ProgramCall[]
  readonly status: ProgramCall
  /** Undefined when the service manager keeps no log. */
  logs(options: LogOptions): ProgramCall | undefined
  /** Hints for people after the installation. */
  readonly nextSteps: readonly string[]
}

export interface LogOptions {
  /** Number of last lines to show. */
  readonly lines: number
  /** Whether to continue with new lines. */
  readonly follow: boolean
}

/** Replaces the match of `pattern`; throws Error without a match, since the templates are part of this program. */
export function replaceOnce(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error(`The template has no ${pattern}`)
  return text.replace(pattern, () => replacement)
}

/** Text for XML between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
