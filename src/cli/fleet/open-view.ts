import type { FleetSettings } from '../../app/settings/settings.ts'
import { OperatorError, UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { timeOfDay } from '../../foundation/text/times.ts'
import type { FleetView, HostView } from '../../ledger/fleet-view.ts'
import type { CommandContext } from '../context.ts'

/** The flags of commands that also speak of other hosts. */
export const FLEET_FLAGS = {
  fleet: { type: 'boolean', describe: 'Of all hosts that share the ledger, as they reported it last' },
  host: { type: 'string', describe: 'Of this host of the ledger', placeholder: 'NAME' },
} as const

export interface FleetFlags {
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
  // Loaded only where the settings name a fleet.
  const { openFleet } = await import('../../app/open-fleet.ts')
  return await openFleet(fleet, { ...io, redactor, logger })
}

/** Null for all. Throws UsageError for --fleet with --host. */
export async function chooseHost(view: FleetView, { fleet, host }: FleetFlags): Promise<number | null> {
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
