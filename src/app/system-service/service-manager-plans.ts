import { win32 } from 'node:path'
import { join } from 'node:path/posix'
import { UsageError } from '../../foundation/errors.ts'
import { baseDirectory, pathInHome } from '../../foundation/files/home.ts'
import type { Environment } from '../settings/overrides.ts'

export interface ProgramCall {
  readonly program: string
  readonly args: readonly string[]
  /** A failure is ignored, for example when stopping a service that is not running. */
  readonly mayFail?: true
  /** It is called until it fails, because it succeeds while the service manager still ends the service. */
  readonly untilFails?: true
}

export interface PlanInput {
  readonly platform: NodeJS.Platform
  readonly isSystem: boolean
  readonly home: string
  readonly env: Environment
  readonly user: { readonly uid: number; readonly name: string }
}

export interface Filling {
  readonly command: readonly string[]
  /** A file that the service manager passes as the credential `token`. */
  readonly tokenFile: string | undefined
}

/** The commands by which one service manager installs, runs and shows the daemon. */
export interface SystemServicePlan {
  readonly template: string
  readonly file: string
  /** Fills in the template. Throws UsageError('bad-usage') for a value that the service manager does not support. */
  fill(template: string, filling: Filling): string | Uint8Array
  /** `call` succeeds if the service manager answers; otherwise the message is `otherwise`. Absent if the manager always runs. */
  readonly reach?: { readonly call: ProgramCall; readonly otherwise: string }
  readonly enable: readonly ProgramCall[]
  readonly launch: readonly ProgramCall[]
  readonly start: readonly ProgramCall[]
  readonly stop: readonly ProgramCall[]
  readonly disable: readonly ProgramCall[]
  readonly forget: readonly ProgramCall[]
  readonly status: ProgramCall
  /** Matches a line that `status` prints only while the daemon runs. Absent if `status` fails when it does not run. */
  readonly runningLine?: RegExp
  logs(options: LogOptions): ProgramCall | undefined
  readonly nextSteps: readonly string[]
}

export interface LogOptions {
  readonly lines: number
  readonly follow: boolean
}

export function planSystemService(input: PlanInput): SystemServicePlan {
  const { platform, isSystem } = input
  if (platform === 'linux') return planSystemd(input)
  if (isSystem)
    throw new UsageError('bad-usage', 'Cannot manage a service for the whole machine: --system is for systemd')
  if (platform === 'darwin') return planLaunchd(input)
  if (platform === 'win32') return planTask(input)
  const message = `Cannot manage a service: there is no known service manager on ${platform}; start "shelfd daemon" yourself`
  throw new UsageError('bad-usage', message)
}

const UNIT = 'shelfd.service'

export function planSystemd({ isSystem, home, env, user }: PlanInput): SystemServicePlan {
  const scope = isSystem ? [] : ['--user']
  const systemctl = (...args: string[]): ProgramCall => ({ program: 'systemctl', args: [...scope, ...args] })
  const directory = isSystem
    ? '/etc/systemd/system'
    : join(baseDirectory(env.XDG_CONFIG_HOME, home, '.config'), 'systemd', 'user')
  const reload = systemctl('daemon-reload')
  return {
    template: isSystem ? 'shelfd-system.service' : UNIT,
    file: join(directory, UNIT),
    fill: fillUnit,
    reach: {
      call: systemctl('show', '--property=Version'),
      otherwise: isSystem ? NO_SYSTEM_MANAGER : noUserManager(user.name),
    },
    enable: [reload, systemctl('enable', UNIT)],
    launch: [systemctl('restart', UNIT)],
    start: [systemctl('start', UNIT)],
    stop: [systemctl('stop', UNIT)],
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

const WITHOUT_SYSTEMD = 'without systemd, as in most containers, start "shelfd daemon" yourself'

const NO_SYSTEM_MANAGER = `Cannot reach systemd: this machine was not started with it, or it does not answer you; ${WITHOUT_SYSTEMD}`

/** Returns the message for a user without a manager, as after `su`, in a cron job or in a container. */
function noUserManager(name: string): string {
  const solutions = [
    `to keep it running always, use "sudo loginctl enable-linger ${name}", then run this again`,
    '"sudo shelfd service install --system" installs the service of the whole machine instead',
    WITHOUT_SYSTEMD,
  ]
  return `Cannot reach the systemd of user ${name}: nobody is signed in here as ${name}; ${solutions.join('; ')}`
}

const SEE_STATE = 'See its state with: shelfd service status, shelfd service logs'

const USER_STEPS = [
  'It runs while you are signed in; to have it run always: loginctl enable-linger',
  'The access token comes from the configuration (service.tokenFile), or from a file given with --token-file',
  SEE_STATE,
]

const SYSTEM_STEPS = [
  'The configuration is /etc/shelfd/config.yaml; it must be readable for every user, so put no secret into it',
  'Put the access token into /etc/credstore/shelfd.token, mode 0600, owner root',
  'Ask the service for its state with: sudo SHELFD_STATE_DIR=/var/lib/shelfd SHELFD_DATA_DIR=/var/lib/shelfd/library shelfd status',
  'See its state with: shelfd service status --system, shelfd service logs --system',
]

function fillUnit(template: string, { command, tokenFile }: Filling): string {
  assertStartable(command[0] ?? '')
  const filled = replaceMatch(template, /^ExecStart=.*$/m, `ExecStart=${command.map(quoteWord).join(' ')}`)
  if (tokenFile === undefined) return filled
  return replaceMatch(filled, /^#?LoadCredential=.*$/m, `LoadCredential=token:${escapeSpecifiers(tokenFile)}`)
}

/** Throws if the program's path has a character that systemd refuses even in quotes. */
function assertStartable(program: string): void {
  if (!/["'\\]/.test(program)) return
  throw new UsageError(
    'bad-usage',
    `Cannot have systemd start "${program}": no quotation mark or backslash may be in it`,
  )
}

function quoteWord(word: string, index: number): string {
  const escaped = escapeSpecifiers(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"')
  return `"${index === 0 ? escaped : escaped.replaceAll('$', '$$$$')}"`
}

function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}

const LABEL = 'org.shelfd.daemon'

function planLaunchd({ home, user }: PlanInput): SystemServicePlan {
  const session = `gui/${user.uid}`
  const agent = `${session}/${LABEL}`
  const launchctl = (...args: string[]): ProgramCall => ({ program: 'launchctl', args })
  const file = pathInHome(home, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const logFile = pathInHome(home, 'Library', 'Logs', 'shelfd.log')
  const unload: ProgramCall = { ...launchctl('bootout', agent), mayFail: true }
  const load = launchctl('bootstrap', session, file)
  const print = launchctl('print', agent)
  return {
    template: `${LABEL}.plist`,
    file,
    fill: (template, filling) => fillAgent(template, filling, logFile),
    // launchd returns before the agent has ended, and until then refuses to load it again.
    enable: [unload, { ...print, untilFails: true }],
    // Loading the file starts the agent; otherwise launchd loads it when the user signs in.
    launch: [load],
    // After an installation without a start the agent is not loaded; loading fails if it is.
    start: [{ ...load, mayFail: true }, launchctl('kickstart', agent)],
    stop: [launchctl('kill', 'SIGTERM', agent)],
    disable: [unload],
    forget: [],
    // launchd also knows, and so prints, an agent that was stopped.
    status: print,
    runningLine: /^\s*state = running$/,
    logs: ({ lines, follow }) => ({ program: 'tail', args: ['-n', String(lines), ...(follow ? ['-F'] : []), logFile] }),
    nextSteps: [
      'macOS asks once for each protected folder (Documents, Desktop …) whether node may read it; answer at the screen',
      'The access token comes from the configuration (service.tokenFile)',
      SEE_STATE,
    ],
  }
}

function fillAgent(template: string, { command, tokenFile }: Filling, logFile: string): string {
  if (tokenFile !== undefined) {
    throw new UsageError('bad-usage', 'Cannot pass a token file to launchd: set service.tokenFile instead')
  }
  const words = command.map((word) => `\n    <string>${escapeXml(word)}</string>`).join('')
  const array = /(?<=<key>ProgramArguments<\/key>\s*<array>)[\s\S]*?(?=\n {2}<\/array>)/
  const filled = replaceMatch(template, array, words)
  return ['StandardErrorPath', 'StandardOutPath'].reduce((text, key) => {
    return replaceMatch(text, new RegExp(`(?<=<key>${key}</key>\\s*<string>)[^<]*`), escapeXml(logFile))
  }, filled)
}

const TASK = 'shelfd'

const SHOW_TASK = [
  `Get-ScheduledTaskInfo -TaskName ${TASK} -ErrorAction SilentlyContinue | Format-List LastRunTime, LastTaskResult`,
  `Get-ScheduledTask -TaskName ${TASK} -ErrorAction Stop | Format-List TaskName, State`,
].join('; ')

function planTask({ home, env, user }: PlanInput): SystemServicePlan {
  const schtasks = (verb: string, ...args: string[]): ProgramCall => ({
    program: 'schtasks',
    args: [verb, '/tn', TASK, ...args],
  })
  const localData = env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local')
  const file = win32.join(localData, 'shelfd', 'shelfd-task.xml')
  const userName = env.USERDOMAIN ? `${env.USERDOMAIN}\\${user.name}` : user.name
  const end: ProgramCall = { ...schtasks('/end'), mayFail: true }
  return {
    template: 'shelfd-task.xml',
    file,
    fill: (template, filling) => fillTask(template, filling, userName),
    enable: [end, schtasks('/create', '/xml', file, '/f')],
    launch: [schtasks('/run')],
    start: [schtasks('/run')],
    stop: [schtasks('/end')],
    disable: [end, { ...schtasks('/delete', '/f'), mayFail: true }],
    forget: [],
    // schtasks names the state in the language of Windows, PowerShell in English.
    status: { program: 'powershell', args: ['-NoProfile', '-NonInteractive', '-Command', SHOW_TASK] },
    runningLine: /^State\s*: Running\b/,
    logs: () => undefined,
    nextSteps: [
      'The access token comes from the configuration (service.tokenFile)',
      'See its state with: shelfd service status',
    ],
  }
}

/** Returns the task in UTF-16 with a byte order mark, as schtasks exports tasks. */
function fillTask(template: string, { command, tokenFile }: Filling, userName: string): Uint8Array {
  if (tokenFile !== undefined) {
    throw new UsageError('bad-usage', 'Cannot pass a token file to a Windows task: set service.tokenFile instead')
  }
  const [program = '', ...args] = command
  const replacements: [RegExp, string][] = [
    [/(?<=encoding=")UTF-8(?=")/, 'UTF-16'],
    [/(?<=<UserId>)[^<]*/g, escapeXml(userName)],
    [/(?<=<Command>)[^<]*/, escapeXml(program)],
    // Paths on Windows cannot contain quotation marks.
    [/(?<=<Arguments>)[^<]*/, escapeXml(args.map((word) => `"${word}"`).join(' '))],
  ]
  const filled = replacements.reduce((text, [pattern, value]) => replaceMatch(text, pattern, value), template)
  return Buffer.from(`\ufeff${filled}`, 'utf16le')
}

/** Replaces what `pattern` matches. Throws Error if nothing does: the templates are part of the program, so that is a bug. */
function replaceMatch(text: string, pattern: RegExp, replacement: string): string {
  if (!pattern.test(text)) throw new Error(`The template has no ${pattern}`)
  return text.replace(pattern, () => replacement)
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
