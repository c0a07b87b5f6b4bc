/** A page for each command, with those that share its first word: `failed list` and `failed show` are on one page. */
import { type ArgumentTable, type Command, nameOf, takesValue } from '../../src/cli/command.ts'
import { type CommandEntry, commands, GROUP_SUMMARIES } from '../../src/cli/commands.ts'
import { GLOBAL_OPTIONS, optionsOf } from '../../src/cli/global-options.ts'
import { listExits, shownValue, usageOf } from '../../src/cli/parser/render-help.ts'
import { bold, italic, item, type ManPage, pageOf, paragraphs, section, seeAlso, subsection, verbatim } from './roff.ts'

interface Loaded extends CommandEntry {
  readonly command: Command
}

export async function renderCommandPages(): Promise<ManPage[]> {
  const words = [...new Set(commands.map(({ name }) => firstWord(name)))]
  return Promise.all(words.map(renderPage))
}

/** `shelfd-failed.1` for `failed list`. */
export function pageNameOf(command: string): string {
  return `shelfd-${firstWord(command)}.1`
}

/** Flags with their values and meanings. */
export function listFlags(table: ArgumentTable): string {
  const items = Object.entries(table).map(([name, spec]) => {
    const names = [...(spec.alias ? [`-${spec.alias}`] : []), `--${name}`].map(bold).join(', ')
    if (!takesValue(spec)) return item(names, sentences(spec.describe))
    const { value, choices } = shownValue(spec)
    const more = [
      choices && `One of ${choices.join(', ')}`,
      spec.default !== undefined && `Default: ${spec.default}`,
      spec.required && 'Required',
      spec.array && 'May be given several times',
    ]
    return item(`${names} ${italic(value)}`, sentences(spec.describe, ...more))
  })
  return items.join('\n')
}

export function listExitCodes(exits?: Command['exits']): string {
  return listExits(exits)
    .map(({ code, meaning }) => item(bold(String(code)), meaning))
    .join('\n')
}

async function renderPage(word: string): Promise<ManPage> {
  const entries = commands.filter(({ name }) => firstWord(name) === word)
  const loaded = await Promise.all(entries.map(async (entry) => ({ ...entry, command: await entry.load() })))
  const [first] = loaded
  const about = GROUP_SUMMARIES[word] ?? first?.summary ?? ''
  const usages = loaded.map(({ name, command }) => usageOf(name.split(' '), command))
  const parts = loaded.length === 1 ? loaded.flatMap(describeAlone) : loaded.map(describeAmongOthers)
  return pageOf(pageNameOf(word), about, [
    section('Synopsis', verbatim(usages)),
    ...parts,
    seeAlso(['shelfd.1', 'shelfd-config.5']),
  ])
}

function describeAlone(entry: Loaded): string[] {
  const [about = '', ...others] = describe(entry, section)
  return [section('Description', about), ...others]
}

function describeAmongOthers(entry: Loaded): string {
  return section(entry.name, ...describe(entry, subsection))
}

/** Prints what it does, then its parts under headings. */
function describe({ summary, command }: Loaded, headed: typeof section): string[] {
  const { description, positionals, examples, exits } = command
  const words = Object.entries(positionals).map(([name, spec]) =>
    item(
      italic(nameOf(name, spec)),
      sentences(spec.describe, spec.choices && `One of ${spec.choices.join(', ')}`, !spec.required && 'Optional'),
    ),
  )
  const flags = optionsOf(command)
  return [
    paragraphs([`${summary}.`, ...(description ? [description] : [])].join('\n\n')),
    ...(words.length > 0 ? [headed('Arguments', ...words)] : []),
    ...(Object.keys(flags).length > 0 ? [headed('Flags', listFlags(flags), alsoGlobal())] : []),
    ...(examples.length > 0 ? [headed('Examples', ...examples.map(describeExample))] : []),
    headed('Exit codes', listExitCodes(exits)),
  ]
}

function describeExample([line, meaning]: Command['examples'][number]): string {
  return item(bold(`shelfd ${line}`), meaning)
}

function alsoGlobal(): string {
  const names = Object.keys(GLOBAL_OPTIONS).map((name) => `--${name}`)
  return `.PP\n${paragraphs(`The flags of every command (${names.join(', ')}) are in shelfd(1).`)}`
}

/** Each part as a sentence. */
function sentences(...parts: readonly (string | false | undefined)[]): string {
  return parts
    .filter((part) => part !== false && part !== undefined)
    .map((part) => `${part}.`)
    .join(' ')
}

function firstWord(name: string): string {
  return name.split(' ')[0] ?? ''
}
