import { type ArgumentsOf, type ArgumentTable, defineCommand } from '../command.ts'

const YES_OR_NO = ['yes', 'no'] as const

const POSITIONALS = {
  directories: { type: 'string', array: true, describe: 'Directories to mirror', placeholder: 'DIR' },
} as const satisfies ArgumentTable

const OPTIONS = {
  embedded: { type: 'boolean', describe: 'Use the library on this computer' },
  'token-file': { type: 'string', placeholder: 'FILE', describe: 'File with the access token of the service' },
  library: { type: 'string', placeholder: 'LIBRARY', describe: 'Service library that receives the directories' },
  'create-library': { type: 'boolean', describe: 'Create the library if there is none of this name' },
  gitignore: { type: 'string', choices: YES_OR_NO, describe: 'Also leave out what their .gitignore files name' },
  'install-service': {
    type: 'string',
    choices: YES_OR_NO,
    describe: 'Have the service manager start the daemon',
  },
  'install-completion': { type: 'string', choices: YES_OR_NO, describe: 'Have TAB complete commands in this shell' },
  yes: { type: 'boolean', describe: 'Write the configuration without asking again' },
  force: { type: 'boolean', describe: 'Replace a configuration that is there already' },
} as const satisfies ArgumentTable

export type InitFlags = ArgumentsOf<typeof POSITIONALS> & ArgumentsOf<typeof OPTIONS>

export const command = defineCommand({
  description: [
    'Asks where the files go, tests the credential, lets you choose directories and a library, shows what would be sent, and',
    'writes a configuration. Nothing is sent. Every answer has a flag; without a terminal, the flags are the answers.',
  ].join('\n'),
  withoutSettings: true,
  positionals: POSITIONALS,
  options: OPTIONS,
  settingFlags: ['service-url', 'ca-file', 'client-cert-file', 'client-key-file', 'client-passphrase-file'],
  examples: [
    ['init', 'ask everything'],
    ['init ~/Papers --embedded', 'mirror a directory into the library on this computer'],
    [
      'init ~/Papers --service-url https://library.example.com --token-file ~/token --library Research',
      'mirror it into a library of a service; in a script, this asks nothing',
    ],
  ],
  exits: ['done', 'failed', 'rootMissing', 'temporary', 'refused', 'heldBack', 'locked', 'operator'],
  async run(context, args) {
    const { runWizard } = await import('./init/run-wizard.ts')
    return runWizard(context, args)
  },
})
