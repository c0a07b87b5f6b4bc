/** Writes what is generated in docs: commands, errors, keys of the configuration, promises, the sentences of the contract suite. */
import { readFileSync, writeFileSync } from 'node:fs'
import { COMMANDS_PAGE, renderCommandsPage } from './commands-page.ts'
import { CONFIGURATION_PAGE, renderConfigurationKeys } from './configuration-keys.ts'
import { CONTRACT_PAGE, renderContractPage } from './contract-page.ts'
import { ERRORS_PAGE, renderErrorsPage } from './errors-page.ts'
import { PROMISES_PAGE, renderPromisesPage } from './promises-page.ts'

writeFileSync(COMMANDS_PAGE, await renderCommandsPage(readFileSync(COMMANDS_PAGE, 'utf8')))
writeFileSync(PROMISES_PAGE, renderPromisesPage(readFileSync(PROMISES_PAGE, 'utf8')))
writeFileSync(CONTRACT_PAGE, renderContractPage(readFileSync(CONTRACT_PAGE, 'utf8')))
writeFileSync(ERRORS_PAGE, renderErrorsPage(readFileSync(ERRORS_PAGE, 'utf8')))
writeFileSync(CONFIGURATION_PAGE, renderConfigurationKeys(readFileSync(CONFIGURATION_PAGE, 'utf8')))
