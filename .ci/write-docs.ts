/** Writes the help of every command into docs/commands.md, below what people wrote there. */
import { readFileSync, writeFileSync } from 'node:fs'
import { COMMANDS_PAGE, renderCommandsPage } from './commands-page.ts'

writeFileSync(COMMANDS_PAGE, await renderCommandsPage(readFileSync(COMMANDS_PAGE, 'utf8')))
