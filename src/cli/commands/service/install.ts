import { resolve } from 'node:path'
import { configCandidates, expandHome } from '../../../app/settings/config-file/find-config-file.ts'
import { ownCommand } from '../../../app/system-service/definition-files.ts'
import { type Done, installSystemService } from '../../../app/system-service/manage-system-service.ts'
import { escapeText } from '../../../foundation/text/safe-text.ts'
import { defineCommand } from '../../command.ts'
import type { CommandContext } from '../../context.ts'
import { SERVICE_OPTIONS, toManageInput } from './system-service-input.ts'

export const command = defineCommand({
  description:
    'For systemd, launchd and the task scheduler of Windows. The service uses the configuration file of --config or SHELFD_CONFIG, but no other flag or variable. Run this again after you move or update Node.',
  positionals: {},
  options: {
    ...SERVICE_OPTIONS,
    'no-start': { type: 'boolean', describe: 'Do not start it now' },
    'token-file': {
      type: 'string',
      placeholder: 'FILE',
      describe: 'File with the access token for the service (systemd)',
    },
  },
  examples: [
    ['service install', 'for yourself, from now on'],
    ['service install --no-start --config ~/shelfd.yaml', 'with another configuration, from the next sign-in on'],
    ['service install --system', 'for the whole machine; needs the rights of root'],
  ],
  exits: ['done', 'failed'],
  async run(context, { system, noStart, tokenFile }) {
    const input = toManageInput(context, system)
    const filling = { command: toCommand(context), tokenFile: tokenFile && toPath(context, tokenFile) }
    const steps = [...(context.settings.mirrors.length === 0 ? [NO_MIRRORS] : []), ...input.plan.nextSteps]
    printOutcome(context, await installSystemService(input, filling, !noStart), steps)
    return 'done'
  },
})

const NO_MIRRORS = 'No mirror is configured yet: list them in the configuration (mirrors)'

function toCommand(context: CommandContext): readonly string[] {
  const given = configCandidates(context.config, context.io).find(({ isRequired }) => isRequired)
  return [...ownCommand(), 'daemon', ...(given ? ['--config', given.file] : [])]
}

function toPath({ io }: CommandContext, given: string): string {
  return resolve(io.cwd, expandHome(given, io.home))
}

function printOutcome(context: CommandContext, { file, ran }: Done, nextSteps: readonly string[]): void {
  if (context.json) {
    context.printJson({ file, ran, nextSteps })
    return
  }
  context.print(`Wrote ${escapeText(file)}`)
  for (const line of ran) context.print(`Ran   ${escapeText(line)}`)
  for (const line of [...nextSteps, 'See its state with: shelfd service status, shelfd service logs'])
    context.printMessage(line)
}
