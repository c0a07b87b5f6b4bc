import { commands } from '../src/cli/commands.ts'
import { EXIT_CODES } from '../src/cli/exit-codes.ts'
import { findCommand } from '../src/cli/parser/find-command.ts'
import { renderHelp } from '../src/cli/parser/render-help.ts'
import { FILES } from './man/man-pages.ts'
import { tableOf } from './table.ts'

export const COMMANDS_PAGE = new URL('../docs/commands.md', import.meta.url)

const MARK = '<!-- From here on written by `npm run docs`, from the tables of the program. -->'

/** The page of all commands: what people wrote above the mark, then exit codes, files, and the program's own help. */
export async function renderCommandsPage(current: string): Promise<string> {
  const [written = ''] = current.split(MARK)
  const sections: string[] = []
  for (const { name } of commands) sections.push(`### ${name}\n\n${fenced(withoutGlobalFlags(await helpOf(name)))}`)
  const exits = Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning])
  const tables = [
    `## Exit codes\n\n${tableOf(['code', 'meaning'], exits)}`,
    `## Files\n\n${tableOf(
      ['file or directory', 'what it is'],
      FILES.map(([path, what]) => [path, what]),
    )}`,
  ]
  return `${written}${MARK}\n\n${tables.join('\n\n')}\n\n## All commands\n\n${fenced(await helpOf(''))}\n${sections.join('\n')}`
}

async function helpOf(name: string): Promise<string> {
  const found = findCommand(name.split(' ').filter(Boolean))
  return renderHelp(found, await found.entry?.load(), { showsAll: true })
}

/** They are the same everywhere and stand with the list. */
function withoutGlobalFlags(help: string): string {
  return help
    .split('\n\n')
    .filter((section) => !section.startsWith('Global flags:'))
    .join('\n\n')
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\`\`\`\n`
}
