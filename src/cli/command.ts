import type { SettingFlag } from '../app/settings/overrides.ts'
import type { CommandContext } from './context.ts'
import type { ExitName } from './exit-codes.ts'

/** One flag or positional argument. */
export interface ArgumentSpec {
  /** A `count` is a switch that counts how often it was given. */
  readonly type: 'string' | 'boolean' | 'number' | 'count'
  readonly describe: string
  /** One letter. */
  readonly alias?: string
  /** May be given several times; the last positional then takes all that follow. */
  readonly array?: true
  readonly required?: true
  readonly choices?: readonly string[]
  /** What a shell offers for an argument besides files. */
  readonly completes?: 'mirrors'
  readonly default?: string | number
  /** How the help names the value; capitals by custom. */
  readonly placeholder?: string
}

export type ArgumentTable = Readonly<Record<string, ArgumentSpec>>

type ScalarOf<S extends ArgumentSpec> = S extends { choices: readonly (infer C)[] }
  ? C
  : { string: string; boolean: boolean; number: number; count: number }[S['type']]

type IsAlwaysGiven<S extends ArgumentSpec> = S extends
  | { required: true }
  | { default: string | number }
  | { type: 'boolean' | 'count' }
  ? true
  : false

type ValueOf<S extends ArgumentSpec> = S extends { array: true }
  ? readonly ScalarOf<S>[]
  : IsAlwaysGiven<S> extends true
    ? ScalarOf<S>
    : ScalarOf<S> | undefined

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S

/** What the handler gets: `--wait-timeout` as `waitTimeout`; switches are never undefined, lists never absent. */
export type ArgumentsOf<T extends ArgumentTable> = { readonly [K in keyof T & string as CamelCase<K>]: ValueOf<T[K]> }

export interface CommandSpec<P extends ArgumentTable, O extends ArgumentTable> {
  /** Paragraphs for the help, where the summary (see commands.ts) does not say enough. */
  readonly description?: string
  /** In the order they are typed. */
  readonly positionals: P
  readonly options: O
  /** Which flags of the configuration the command takes. */
  readonly settingFlags?: readonly SettingFlag[]
  /** It works whatever the configuration says, and starts sooner; its context has no settings. */
  readonly withoutSettings?: true
  /** A command line (without `shelfd`) and what it does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** How it may end; `usage` and `interrupted` belong to every command. */
  readonly exits: readonly ExitName[]
  run(context: CommandContext, args: ArgumentsOf<P> & ArgumentsOf<O>): Promise<ExitName>
}

/** A command whatever its arguments are: they are checked against its tables before `run` sees them. */
export interface Command extends Omit<CommandSpec<ArgumentTable, ArgumentTable>, 'run'> {
  run(context: CommandContext, args: Readonly<Record<string, unknown>>): Promise<ExitName>
}

/** Gives a command its type; `run` gets its arguments typed by the two tables. */
export function defineCommand<const P extends ArgumentTable, const O extends ArgumentTable>(
  spec: CommandSpec<P, O>,
): Command {
  return spec
}

/** Whether a flag is followed by a value. */
export function takesValue({ type }: ArgumentSpec): boolean {
  return type === 'string' || type === 'number'
}

/** How help and messages name a positional: `LIBRARY` for `library`. */
export function nameOf(name: string, spec: ArgumentSpec): string {
  return spec.placeholder ?? name.toUpperCase()
}
