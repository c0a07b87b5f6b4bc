/** Writes the help of every command into docs/commands.md and the catalogue of promises into docs/promises.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { COMMANDS_PAGE, renderCommandsPage } from './commands-page.ts'
import { PROMISES_PAGE, renderPromisesPage } from './promises-page.ts'

writeFileSync(COMMANDS_PAGE, await renderCommandsPage(readFileSync(COMMANDS_PAGE, 'utf8')))
writeFileSync(PROMISES_PAGE, renderPromisesPage(readFileSync(PROMISES_PAGE, 'utf8')))
