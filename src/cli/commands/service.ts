import { resolve } from 'node:path'
import { configCandidates, expandHome } from '../../app/settings/config-paths.ts'
import { ownCommand } from '../../app/system-service/definition-files.ts'
import {
  assertReachable,
  type Done,
  installSystemService,
  type ManageInput,
  manageOwnSystemService,
  showLogs,
  showSystemService,
  switchSystemService,
  uninstallSystemService,
} from '../../app/system-service/manage-system-service.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { type ArgumentTable, type Command, defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'

const SERVICE_OPTIONS = {
  system: { type: 'boolean', describe: 'The service of the whole machine instead of your own (systemd)' },
} as const satisfies ArgumentTable

export const installCommand = defineCommand({
  description:
    'For systemd, launchd and the task scheduler of Windows. The service uses the configuration file of --config or SHELFD_CONFIG, but no other flag or variable. Run this again after you move or update Node.',
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
  },
})

const NO_MIRRORS = 'No mirror is configured yet: add one to the configuration (mirrors)'

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
  for (const line of nextSteps) context.printMessage(line)
}

export const uninstallCommand = defineCommand({
  description: 'The state, the configuration and the libraries stay as they are.',
  withoutSettings: true,
  options: SERVICE_OPTIONS,
  examples: [['service uninstall', 'the state stays, so nothing is sent twice later']],
  exits: ['done', 'failed'],
  async run(context, { system }) {
    const done = await uninstallSystemService(toManageInput(context, system))
    if (context.json) context.printJson(done ?? { file: null, ran: [] })
    else if (!done) context.printMessage('Nothing to remove: no service is installed')
    else {
      for (const line of done.ran) context.print(`Ran     ${escapeText(line)}`)
      context.print(`Removed ${escapeText(done.file)}`)
    }
  },
})

export const startCommand = defineSwitch('start', 'start it; with systemd, returns when it is ready')
export const stopCommand = defineSwitch('stop', 'until it is started again, or until the next sign-in')

function defineSwitch(to: 'start' | 'stop', meaning: string): Command {
  return defineCommand({
    withoutSettings: true,
    options: SERVICE_OPTIONS,
    examples: [[`service ${to}`, meaning]],
    exits: ['done', 'failed'],
    async run(context, { system }) {
      await switchSystemService(toManageInput(context, system), to)
    },
  })
}

export const statusCommand = defineCommand({
  description: 'Exits 1 when the daemon does not run. `shelfd status` shows what it works on.',
  withoutSettings: true,
  options: SERVICE_OPTIONS,
  examples: [['service status', 'whether it runs; with systemd, also since when, and its last lines']],
  exits: ['done', 'failed'],
  async run(context, { system }) {
    const input = toManageInput(context, system)
    await assertReachable(input)
    return (await showSystemService(input, context.print)) ? 'done' : 'failed'
  },
})

export const logsCommand = defineCommand({
  description: 'Not on Windows, whose task scheduler keeps no log.',
  withoutSettings: true,
  options: {
    ...SERVICE_OPTIONS,
    lines: {
      type: 'number',
      bounds: wholeNumber(0, 1_000_000),
      alias: 'n',
      default: 50,
      describe: 'How many of the last lines',
    },
    follow: { type: 'boolean', alias: 'f', describe: 'Print new lines as they come, until stopped' },
  },
  examples: [['service logs --follow', 'the last 50 lines, then new ones as they come']],
  exits: ['done', 'failed'],
  async run(context, { system, lines, follow }) {
    const isShown = await showLogs(toManageInput(context, system), { lines, follow }, context.print)
    return isShown || context.signal.aborted ? 'done' : 'failed'
  },
})

function toManageInput({ io, signal }: CommandContext, isSystem: boolean): ManageInput {
  return manageOwnSystemService({ env: io.env, home: io.home, signal }, isSystem)
}
