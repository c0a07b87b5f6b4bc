import { systemClock } from '../../foundation/clock.ts'
import { version } from '../../foundation/version.ts'
import { defineCommand } from '../command.ts'
import { CONNECTION_FLAGS } from '../global-options.ts'

export const command = defineCommand({
  description:
    'Speaks the Model Context Protocol on stdin and stdout, with the tools search, list_directory, read_resource and upload. A program for agents starts and ends this command, which uses the configured service or the embedded library with the rights of the credential.',
  settingFlags: CONNECTION_FLAGS,
  examples: [
    ['mcp', 'as the command of a server in the configuration of a desktop assistant'],
    ['mcp --service-url https://library.example.com', 'with another service than the configured one'],
  ],
  exits: ['done'],
  async run(context) {
    const { ServiceLease } = await import('../../app/mcp-through-client.ts')
    const { accessThrough } = await import('../../app/mcp-through-client.ts')
    const { serveOnStdio } = await import('../../embedded/mcp/serve-stdio.ts')
    const lease = new ServiceLease(() => context.openService(), systemClock)
    try {
      const { stdin, stdout } = context.io
      await serveOnStdio({
        access: accessThrough(lease, context.settings.stateDir),
        version,
        stdin,
        stdout,
        signal: context.signal,
        onError: (error) => context.logger.warn('a message of the agent was not understood', { error: error.message }),
      })
    } finally {
      await lease[Symbol.asyncDispose]()
    }
  },
})
