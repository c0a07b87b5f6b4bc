import { commands } from '../src/cli/commands.ts'
import { findCommand } from '../src/cli/parser/find-command.ts'
import { renderHelp } from '../src/cli/parser/render-help.ts'

export const COMMANDS_PAGE = new URL('../docs/commands.md', import.meta.url)

const MARK = '<!-- From here on written by `npm run docs`, from the help of the program. -->'

/** The page of all commands: what people wrote above the mark, then the program's own help. */
export async function renderCommandsPage(current: string): Promise<string> {
  const [written = ''] = current.split(MARK)
  const sections: string[] = []
  for (const { name } of commands) sections.push(`### ${name}\n\n${fenced(withoutGlobalFlags(await helpOf(name)))}`)
  return `${written}${MARK}\n\n## All commands\n\n${fenced(await helpOf(''))}\n${sections.join('\n')}`
}

async function helpOf(name: string): Promise<string> {
  const found = findCommand(name.split(' ').filter(Boolean))
  return renderHelp(found, await found.entry?.load())
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
