import { commands } from '../src/cli/commands.ts'
import { renderCommandHelp, renderCommandList } from '../src/cli/render/help.ts'

export const COMMANDS_PAGE = new URL('../docs/commands.md', import.meta.url)

const MARK = '<!-- From here on written by `npm run docs`, from the help of the program. -->'

/** The page of all commands: what people wrote above the mark, then the program's own help. */
export async function renderCommandsPage(current: string): Promise<string> {
  const [written = ''] = current.split(MARK)
  const helps = await Promise.all(commands.map(async (entry) => renderCommandHelp(entry, await entry.load())))
  const sections = helps.map((help, index) => `### ${commands[index]?.name}\n\n${fenced(withoutGlobalFlags(help))}`)
  return `${written}${MARK}\n\n## All commands\n\n${fenced(renderCommandList(commands, ''))}\n${sections.join('\n')}`
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
