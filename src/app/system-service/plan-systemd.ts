import { isAbsolute, join } from 'node:path/posix'
import { UsageError } from '../../foundation/errors.ts'
import {
  type Filling,
  type PlanInput,
  type ProgramCall,
  replaceOnce,
  type SystemServicePlan,
} from './system-service-plan.ts'

const UNIT = 'shelfd.service'

/** systemd: a unit of the user's own manager, or of the system. */
export function planSystemd({ isSystem, home, env, user }: PlanInput): SystemServicePlan {
  const scope = isSystem ? [] : ['--user']
  const systemctl = (...args: string[]): ProgramCall => ({ program: 'systemctl', args: [...scope, ...args] })
  const userDirectory = join(configHome(env.XDG_CONFIG_HOME, home), 'systemd', 'user')
  const reload = systemctl('daemon-reload')
  return {
    template: isSystem ? 'shelfd-system.service' : UNIT,
    file: join(isSystem ? '/etc/systemd/system' : userDirectory, UNIT),
    fill: fillUnit,
    reach: {
      call: systemctl('show', '--property=Version'),
      otherwise: isSystem ? NO_SYSTEM : noUserManager(user.name),
    },
    enable: [reload, systemctl('enable', UNIT)],
    launch: [systemctl('restart', UNIT)],
    start: systemctl('start', UNIT),
    stop: systemctl('stop', UNIT),
    disable: [{ ...systemctl('disable', '--now', UNIT), mayFail: true }],
    forget: [reload],
    status: systemctl('status', '--no-pager', '--full', UNIT),
    logs: ({ lines, follow }) => ({
      program: 'journalctl',
      args: [...scope, '--no-pager', '--unit', UNIT, '--lines', String(lines), ...(follow ? ['--follow'] : [])],
    }),
    nextSteps: isSystem ? SYSTEM_STEPS : USER_STEPS,
  }
}

const WITHOUT = 'without systemd, as in most containers, start "shelfd daemon" yourself'

const NO_SYSTEM = `Cannot reach systemd: this machine was not started with it, or it does not answer you; ${WITHOUT}`

/** As after `su`, in a job of cron or in a container. */
function noUserManager(name: string): string {
  const ways = [
    `"sudo loginctl enable-linger ${name}" has it run always, then run this again`,
    '"sudo shelfd service install --system" installs the service of the whole machine instead',
    WITHOUT,
  ]
  return `Cannot reach the systemd of user ${name}: nobody is signed in here as ${name}; ${ways.join('; ')}`
}

const USER_STEPS = [
  'It runs while you are signed in; to have it run always: loginctl enable-linger',
  'The access token comes from the configuration (service.tokenFile), or from a file given with --token-file',
]

const SYSTEM_STEPS = [
  'The configuration is /etc/shelfd/config.yaml; it must be readable for every user, so put no secret into it',
  'Put the access token into /etc/credstore/shelfd.token, mode 0600, owner root',
  'Ask for its state with: SHELFD_STATE_DIR=/var/lib/shelfd SHELFD_DATA_DIR=/var/lib/shelfd/library shelfd status',
]

function fillUnit(template: string, { command, tokenFile }: Filling): string {
  assertStartable(command[0] ?? '')
  const filled = replaceOnce(template, /^ExecStart=.*$/m, `ExecStart=${command.map(quoteWord).join(' ')}`)
  if (tokenFile === undefined) return filled
  return replaceOnce(filled, /^#?LoadCredential=.*$/m, `LoadCredential=token:${escapeSpecifiers(tokenFile)}`)
}

/** systemd refuses quotation marks and backslashes in the path of a program, also when it is quoted. */
function assertStartable(program: string): void {
  if (!/["'\\]/.test(program)) return
  throw new UsageError(
    'bad-usage',
    `Cannot have systemd start "${program}": no quotation mark or backslash may be in it`,
  )
}

/** Quotes for systemd, where `%` starts a specifier and `$` a variable, the latter in all words but the program. */
function quoteWord(word: string, index: number): string {
  const escaped = escapeSpecifiers(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"')
  return `"${index === 0 ? escaped : escaped.replaceAll('$', '$$$$')}"`
}

function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}

function configHome(given: string | undefined, home: string): string {
  return given && isAbsolute(given) ? given : join(home, '.config')
}
