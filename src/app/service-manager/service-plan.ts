import type { Environment } from '../settings/overrides.ts'

/** One program to run, without a shell. */
export interface ProgramCall {
  readonly program: string
  readonly args: readonly string[]
  /** Its failure changes nothing, such as stopping what isn't running. */
  readonly mayFail?: true
}

/** For whom the service is, and on what. */
export interface PlanInput {
  readonly platform: NodeJS.Platform
  /** One service for the whole machine instead of the user's own. */
  readonly isSystem: boolean
  /** Home directory, absolute. */
  readonly home: string
  readonly env: Environment
  readonly user: { readonly uid: number; readonly name: string }
}

/** What goes into the definition of the service. */
export interface Filling {
  /** Program and arguments, absolute. */
  readonly command: readonly string[]
  /** A file the service manager hands over as the credential `token`. */
  readonly tokenFile: string | undefined
}

/** How one service manager installs, runs and shows the daemon: data only, so that it can be looked at before it happens. */
export interface ServicePlan {
  /** File in `service/` that the definition is made of. */
  readonly template: string
  /** Where the definition goes, absolute. */
  readonly file: string
  /** Throws UsageError('bad-usage') for what the service manager cannot do. */
  fill(template: string, filling: Filling): string | Uint8Array
  /** After the file is written: makes it known, and has it started from now on. */
  readonly enable: readonly ProgramCall[]
  /** After `enable`: starts it now, anew when it runs. */
  readonly launch: readonly ProgramCall[]
  readonly start: ProgramCall
  readonly stop: ProgramCall
  readonly disable: readonly ProgramCall[]
  /** After the file is removed. */
  readonly forget: readonly ProgramCall[]
  readonly status: ProgramCall
  /** Undefined when the service manager keeps no log. */
  logs(options: LogOptions): ProgramCall | undefined
  /** What to know and do after the installation, for people. */
  readonly nextSteps: readonly string[]
}

export interface LogOptions {
  /** How many of the last lines. */
  readonly lines: number
  /** Goes on with what is logged from now on. */
  readonly follow: boolean
}

/** Replaces what `pattern` finds; a template without it is a fault of ours. */
export function replaceOnce(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error(`The template has no ${pattern}`)
  return text.replace(pattern, () => replacement)
}

/** Text for XML between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
