import type { FleetSettings } from '../app/settings/settings.ts'
import { OperatorError, UsageError } from '../foundation/errors.ts'
import { counted, escapeText, groupDigits } from '../foundation/text/safe-text.ts'
import { formatSpan, isoTime, timeOfDay } from '../foundation/text/times.ts'
import { type FleetTotals, type FleetView, type HostView, type OfHost, sessionState } from '../ledger/fleet-view.ts'
import type { PublishedMirror, PublishedProblem, PublishedRun } from '../ledger/published.ts'
import type { CommandContext } from './context.ts'
import { renderFields } from './render/layout.ts'

/** The flags of commands that can also show other hosts. */
export const FLEET_FLAGS = {
  fleet: { type: 'boolean', describe: 'Show all hosts that share the ledger, as they last reported' },
  host: { type: 'string', describe: 'Show this host of the ledger', placeholder: 'NAME' },
} as const

interface FleetFlags {
  readonly fleet: boolean
  readonly host: string | undefined
}

export function isOfFleet({ fleet, host }: FleetFlags): boolean {
  return fleet || host !== undefined
}

export function requireFleet({ settings }: CommandContext): FleetSettings {
  if (settings.fleet) return settings.fleet
  throw new UsageError('bad-configuration', 'This host is in no fleet: the configuration has no section "fleet"')
}

export function describeDatabase({ database: { host, port, database } }: FleetSettings): string {
  return `"${escapeText(database)}" at ${escapeText(host)}:${port}`
}

export async function openView(context: CommandContext): Promise<FleetView> {
  const { io, redactor, logger } = context
  const fleet = requireFleet(context)
  context.showWait(`waiting for ${describeDatabase(fleet)}`)
  // Loaded here, because few settings name a fleet.
  const { openFleet } = await import('../app/open-fleet.ts')
  return await openFleet(fleet, { ...io, redactor, logger })
}

/** Returns the identifier of the host that --host names; null for all hosts. Throws UsageError for --fleet with --host. */
async function chooseHost(view: FleetView, { fleet, host }: FleetFlags): Promise<number | null> {
  if (host === undefined) return null
  if (fleet) throw new UsageError('bad-usage', 'Give either --fleet or --host NAME')
  return (await findHost(view, host)).id
}

export async function findHost(view: FleetView, name: string): Promise<HostView> {
  const found = (await view.listHosts()).filter((host) => host.name === name)
  const [host] = found
  if (!host) {
    throw new UsageError('bad-usage', `The ledger has no host "${escapeText(name)}"; "shelfd fleet hosts" lists them`)
  }
  if (found.length > 1) {
    throw new OperatorError(
      'host-in-use',
      `The ledger has ${found.length} hosts "${escapeText(name)}"; give each a name of its own (fleet.host)`,
    )
  }
  return host
}

export function describeTime(timeMs: number | null): string | null {
  return timeMs === null ? null : timeOfDay(timeMs, Date.now())
}

export const MAX_PROBLEMS = 100_000
const MAX_SHOWN = 20

export const CLEAR_SCREEN = '\x1b[2J\x1b[H'

type Mirror = PublishedMirror & OfHost
export type HostProblem = PublishedProblem & OfHost
export type HostRun = PublishedRun & OfHost

export async function showHosts(context: CommandContext): Promise<void> {
  await using view = await openView(context)
  const hosts = await view.listHosts({ countsClaims: context.json })
  if (context.json) {
    context.printJson({ hosts: hosts.map(hostJson) })
    return
  }
  if (hosts.length === 0) {
    context.printMessage('No host has joined the ledger yet: see "shelfd sync --help"')
    return
  }
  context.printTable(
    ['host', 'version', 'last beat', 'mirrors', 'waiting', 'problems', 'sent in 24 h'],
    hosts.map((host) => [
      ...[host.name, host.version, describeBeat(host), describeMirrors(host)],
      ...[host.waiting, host.problems, host.sentInDay].map(groupDigits),
    ]),
  )
}

/** Prints the totals of the fleet or the state of one host, and the mirrors. */
export async function showFleetStatus(context: CommandContext, flags: FleetFlags, redraws: boolean): Promise<void> {
  await using view = await openView(context)
  const hostId = await chooseHost(view, flags)
  const hosts = await view.listHosts({ countsClaims: context.json })
  const [totals, mirrors] = [await view.readTotals(), await view.listMirrors(hostId)]
  const named = hosts.filter(({ id }) => hostId === null || id === hostId)
  if (context.json) {
    context.printJson({ ...totals, hosts: named.map(hostJson), mirrors: mirrors.map(withHost) })
    return
  }
  if (redraws) context.io.stdout.write(CLEAR_SCREEN)
  if (hostId === null) context.print(renderFields(describeTotals(totals, hosts)))
  else for (const host of named) context.print(renderFields(describeHost(host)))
  if (mirrors.length > 0) context.print('')
  showMirrors(context, mirrors, new Set(hosts.filter(({ isSilent }) => isSilent).map(({ id }) => id)))
}

/** `silent`: the identifiers of hosts that stopped reporting, so that their mirrors may have another state by now. */
function showMirrors(context: CommandContext, mirrors: readonly Mirror[], silent: ReadonlySet<number>): void {
  if (mirrors.length === 0) {
    context.printMessage('No host has reported a mirror yet')
    return
  }
  context.printTable(
    ['host', 'mirror', 'state', 'waiting', 'problems'],
    mirrors.map(({ hostId, host, name, state, lastRun, queue, problems }) => [
      ...[
        host,
        name,
        `${silent.has(hostId) ? '! silent; last: ' : ''}${state.sign} ${state.text}${describeAge(state, lastRun)}`,
      ],
      ...[queue.contents, problems].map(groupDigits),
    ]),
  )
}

/** Returns the age of a mirror's state; '' for a good state, whose text already names its age. */
function describeAge({ sign }: Mirror['state'], lastRun: Mirror['lastRun']): string {
  if (sign === '✓') return ''
  return lastRun ? ` · last run ${formatSpan(Date.now() - Date.parse(lastRun.at))} ago` : ' · no run yet'
}

function describeTotals(totals: FleetTotals, hosts: readonly HostView[]) {
  return {
    hosts: describeSessions(hosts) || '0',
    'distinct files': `${totals.isAbout ? 'about ' : ''}${groupDigits(totals.contents)}`,
    'being sent': groupDigits(totals.claims),
    'sent in 24 hours': groupDigits(totals.today),
    'second sends': groupDigits(totals.secondSends),
  }
}

/** Returns how many hosts have each state, such as `2 open, 1 silent`. */
function describeSessions(hosts: readonly HostView[]): string {
  const counts = (['open', 'closed', 'silent'] as const).map((state) => {
    return `${hosts.filter((host) => sessionState(host) === state).length} ${state}`
  })
  return counts.filter((text) => !text.startsWith('0 ')).join(', ')
}

function describeBeat(host: HostView): string {
  return `${describeTime(host.seenAt) ?? 'never'}${host.isSilent ? ', silent' : ''}`
}

function describeHost(host: HostView) {
  return {
    host: `${host.name} (shelfd ${host.version})`,
    'last beat': describeTime(host.seenAt) ?? 'never',
    session: sessionState(host),
    'last report': describeTime(host.publishedAt) ?? 'never',
    'sent in 24 hours': groupDigits(host.sentInDay),
  }
}

function describeMirrors({ mirrors: { done, busy, warned, stopped } }: HostView): string {
  const counts = [`${done} ✓`, `${busy} →`, `${warned} !`, `${stopped} ✗`].filter((text) => !text.startsWith('0 '))
  return counts.join(' ')
}

interface ReportFlags extends FleetFlags {
  readonly mirrors: readonly string[]
  readonly format: string
  readonly output: string | undefined
  readonly only: string | undefined
  readonly offline: boolean
  readonly all: boolean
  readonly verify: boolean
  readonly check: boolean
  readonly failOn: string | undefined
}

export async function showFleetReport(context: CommandContext, args: ReportFlags): Promise<void> {
  const { format } = args
  const only = ['output', 'only', 'offline', 'all', 'verify', 'check', 'failOn'] as const
  const flag = only.find((name) => args[name] !== undefined && args[name] !== false)
  if (flag !== undefined || !['text', 'json'].includes(format) || args.mirrors.length > 0) {
    throw new UsageError('bad-usage', 'A report of other hosts accepts --json, but no mirror and no other flag')
  }
  await using view = await openView(context)
  const hostId = await chooseHost(view, args)
  const mirrors = await view.listMirrors(hostId)
  const problems = await view.listProblems({ hostId, limit: MAX_PROBLEMS })
  const secondSends = await view.countSecondSends()
  if (context.json || format === 'json') {
    context.printJson({ mirrors: mirrors.map(withHost), problems: problems.map(withHost), secondSends })
    return
  }
  if (mirrors.length === 0) {
    context.printMessage('No host has reported a mirror yet')
    return
  }
  const hasTextless = mirrors.some(({ files }) => files.withoutText > 0)
  const textless = (cell: string) => (hasTextless ? [cell] : [])
  context.printTable(
    ['host', 'mirror', 'files', 'searchable', ...textless('no text'), 'processing', 'to send', 'failed', 'last run'],
    mirrors.map(({ host, name, files, lastRun }) => [
      ...[host, name, groupDigits(files.known), groupDigits(files.searchable)],
      ...[...textless(groupDigits(files.withoutText)), groupDigits(files.inIngestion)],
      ...[files.toSend + files.sending + files.inDoubt, files.needAttention].map(groupDigits),
      (lastRun && describeTime(Date.parse(lastRun.at))) ?? '',
    ]),
  )
  if (secondSends > 0) context.print(`\n${counted(secondSends, 'file')} reached the service twice`)
  if (problems.length === 0) return
  context.print('')
  for (const { host, path, code, message } of problems.slice(0, MAX_SHOWN)) {
    context.printText(`! ${escapeText(`${host}: ${path}: ${message}`)} [${code}]`)
  }
  const more = problems.length - MAX_SHOWN
  if (more > 0) context.print(`! and ${counted(more, 'more problem')}: add --json`)
}

/** Reads the newest runs of the hosts; if a mirror is named, only runs with this mirror. */
export async function readFleetRuns(
  context: CommandContext,
  flags: FleetFlags,
  { limit, mirror }: { readonly limit: number; readonly mirror: string | undefined },
): Promise<HostRun[]> {
  await using view = await openView(context)
  const hostId = await chooseHost(view, flags)
  const runs = await view.listRuns({ hostId, limit: mirror === undefined ? limit : MAX_PROBLEMS })
  return runs
    .filter(({ mirrors }) => mirror === undefined || mirrors.some(({ name }) => name === mirror))
    .slice(0, limit)
}

/** Reads the problems of failed contents that the hosts reported. */
export async function readFleetFailures(context: CommandContext, flags: FleetFlags): Promise<HostProblem[]> {
  await using view = await openView(context)
  const problems = await view.listProblems({ hostId: await chooseHost(view, flags), limit: MAX_PROBLEMS })
  return problems.filter(({ content }) => content !== null)
}

export function withHost<T extends OfHost>({ hostId: _, host, ...rest }: T) {
  return { host, ...rest }
}

export function hostJson({ seenAt, publishedAt, ...host }: HostView) {
  return { ...host, seenAt: isoTime(seenAt), publishedAt: isoTime(publishedAt) }
}
