import type { SettingFlag } from '../app/settings/overrides.ts'
import type { Bounds } from '../foundation/text/bounds.ts'
import type { CommandContext } from './context.ts'
import type { ExitName } from './exit-codes.ts'

/** A `count` is a switch whose value is the number of its occurrences. */
export type ArgumentSpec = ArgumentTexts &
  ({ readonly type: 'string' | 'boolean' | 'count' } | { readonly type: 'number'; readonly bounds: Bounds })

interface ArgumentTexts {
  readonly describe: string
  /** One letter. */
  readonly alias?: string
  /** A flag that may be repeated, or a last positional that receives all further words. */
  readonly array?: true
  readonly required?: true
  readonly choices?: readonly string[]
  /** The names that completion offers for an argument instead of files. */
  readonly completes?: 'mirrors' | 'libraries'
  readonly default?: string | number
  /** The name of the value in the help, in capitals. */
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

/** The arguments of `run`: `--wait-timeout` as `waitTimeout`. Switches and lists are always present. */
export type ArgumentsOf<T extends ArgumentTable> = { readonly [K in keyof T & string as CamelCase<K>]: ValueOf<T[K]> }

export interface CommandSpec<P extends ArgumentTable, O extends ArgumentTable> {
  /** Paragraphs for the help, in addition to the summary in commands.ts; only the first is shown without `--all`. */
  readonly description?: string
  readonly positionals?: P
  readonly options?: O
  readonly settingFlags?: readonly SettingFlag[]
  /** Options that the help shows only with `--all`, because few users need them or a message names them in time. */
  readonly rareOptions?: readonly string[]
  /** The command starts sooner, because its context has no settings. */
  readonly withoutSettings?: true
  /** A command line (without `shelfd`) and what it does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** Possible exits, except `usage` and `interrupted`, which every command has. */
  readonly exits: readonly ExitName[]
  /** Returns how the command ended; `undefined` means `done`. */
  run(context: CommandContext, args: ArgumentsOf<P> & ArgumentsOf<O>): Promise<ExitName | undefined>
}

/** A command without the types of its arguments, which the parser checks against the tables before it calls `run`. */
export interface Command extends Omit<CommandSpec<ArgumentTable, ArgumentTable>, 'run'> {
  readonly positionals: ArgumentTable
  readonly options: ArgumentTable
  run(context: CommandContext, args: Readonly<Record<string, unknown>>): Promise<ExitName | undefined>
}

type NoArguments = Readonly<Record<never, never>>

/** Defines a command, and derives the types of the arguments of `run` from its two tables. */
export function defineCommand<const P extends ArgumentTable = NoArguments, const O extends ArgumentTable = NoArguments>(
  spec: CommandSpec<P, O>,
): Command {
  return { positionals: {}, options: {}, ...spec }
}

export function takesValue({ type }: ArgumentSpec): boolean {
  return type === 'string' || type === 'number'
}

/** Returns the name of an argument in the help, such as `LIBRARY` for `library`. */
export function nameOf(name: string, spec: ArgumentSpec): string {
  return spec.placeholder ?? name.toUpperCase()
}
