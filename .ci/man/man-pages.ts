/** The manual: a page of the program, one for each command, one for the configuration. See docs/installing.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OVERRIDES, settingFlags, variableOf } from '../../src/app/settings/overrides.ts'
import { commands } from '../../src/cli/commands.ts'
import { GLOBAL_OPTIONS } from '../../src/cli/global-options.ts'
import { listExitCodes, listFlags, pageNameOf, renderCommandPages } from './command-pages.ts'
import { renderConfigurationPage } from './configuration-page.ts'
import { bold, item, type ManPage, pageOf, paragraphs, section, seeAlso, verbatim } from './roff.ts'

/** Writes all pages into a directory. */
export async function writeManPages(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  for (const { name, text } of await renderManPages()) writeFileSync(join(directory, name), text)
}

/** All pages, made of the tables that the help is made of. */
export async function renderManPages(): Promise<readonly ManPage[]> {
  return [renderProgramPage(), ...(await renderCommandPages()), renderConfigurationPage()]
}

const ABOUT = `shelfd mirrors local directories into libraries of a Knowledge Library Service: it hashes files, uploads each new
content once, follows every upload until it is searchable, and reports on both sides. It never deletes, moves or overwrites
anything, local or remote. Without any configuration it uses a library of its own on this computer.

Data goes to stdout, logs and progress go to stderr. Flags may stand anywhere; what follows -- is no flag.`

export const FILES: readonly (readonly [string, string])[] = [
  ['$XDG_CONFIG_HOME/shelfd/config.yaml, /etc/shelfd/config.yaml', 'The configuration; see shelfd-config(5).'],
  [
    '$XDG_STATE_HOME/shelfd',
    'What was sent and received. Keep it, and back it up while shelfd is stopped: nothing else records which file is which resource.',
  ],
  ['$XDG_DATA_HOME/shelfd/library', 'The library on this computer.'],
  ['/var/lib/shelfd', 'State and library of the service of the machine.'],
  ['$XDG_CACHE_HOME/shelfd', 'Compiled code, for a faster start. It may be removed at any time.'],
  ['.shelfdignore', 'In mirrored directories: what to leave out, in gitignore syntax.'],
]

const HOMES = `Where these variables are not set, they stand for ~/.config, ~/.local/state, ~/.local/share and ~/.cache.`

const VARIABLES: readonly (readonly [string, string])[] = [
  ['SHELFD_CONFIG', 'The same as --config.'],
  ['SHELFD_NO_SYSTEM_CONFIG', '/etc/shelfd/config.yaml is not read.'],
  ['SHELFD_TOKEN, SHELFD_TOKEN_FILE', 'The access token of the service, or a file with it and nothing else.'],
  ['SHELFD_ALLOW_ROOT', 'The same as --allow-root of sync and daemon, when it is 1 or true.'],
  ['NO_COLOR, FORCE_COLOR', 'The same as --color never and --color always.'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'The proxy to the service.'],
]

function renderProgramPage(): ManPage {
  const settings = settingFlags.map((flag) => item(bold(variableOf(flag)), `${OVERRIDES[flag].describe}.`))
  const pages = [...new Set(commands.map(({ name }) => pageNameOf(name)))]
  return pageOf('shelfd.1', 'mirror directories into a knowledge library', [
    section('Synopsis', verbatim(['shelfd COMMAND [ARGUMENTS] [FLAGS]'])),
    section('Description', paragraphs(ABOUT)),
    section('Commands', ...commands.map(({ name, summary }) => item(bold(name), `${summary}.`))),
    section('Flags', listFlags(GLOBAL_OPTIONS)),
    section('Environment', ...VARIABLES.map(toItem), ...settings),
    section('Files', ...FILES.map(toItem), paragraphs(HOMES)),
    section('Exit codes', listExitCodes()),
    seeAlso([...pages, 'shelfd-config.5']),
  ])
}

function toItem([term, text]: readonly [string, string]): string {
  return item(bold(term), text)
}
