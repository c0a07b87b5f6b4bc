/** Writes what is generated in docs: the help of every command, the catalogue of promises, the sentences of the contract suite. */
import { readFileSync, writeFileSync } from 'node:fs'
import { COMMANDS_PAGE, renderCommandsPage } from './commands-page.ts'
import { CONTRACT_PAGE, renderContractPage } from './contract-page.ts'
import { PROMISES_PAGE, renderPromisesPage } from './promises-page.ts'

writeFileSync(COMMANDS_PAGE, await renderCommandsPage(readFileSync(COMMANDS_PAGE, 'utf8')))
writeFileSync(PROMISES_PAGE, renderPromisesPage(readFileSync(PROMISES_PAGE, 'utf8')))
writeFileSync(CONTRACT_PAGE, renderContractPage(readFileSync(CONTRACT_PAGE, 'utf8')))
