import { ledgerAddress } from '../../app/fleet.ts'
import type { FleetSettings } from '../../app/settings/settings.ts'
import { OperatorError, UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isoTime, timeOfDay } from '../../foundation/text/times.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { renderFields } from '../render/layout.ts'
import { openPrompts } from '../terminal/prompts.ts'

export const initCommand = defineCommand({
  description: [
    'The role of "fleet.database" becomes the owner of the ledger, so it must own the database or may create schemas in it. Run',
    'twice it changes nothing. For a role that may only call functions, let an administrator run what --sql prints.',
  ].join('\n'),
  options: {
    yes: { type: 'boolean', describe: 'Do not ask' },
    sql: {
      type: 'boolean',
      describe: 'Print the SQL that creates the ledger with roles of their own, and change nothing',
    },
  },
  examples: [
    ['fleet init', 'show where the ledger will be, ask, then create it or bring it up to date'],
    ['fleet init --yes', 'for scripts'],
    ['fleet init --sql | psql --host db.example.com shelfd', 'with separate roles for the owner and the hosts'],
  ],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, { yes, sql }) {
    const fleet = requireFleet(context)
    const { hardenedSql, initialise } = await import('../../ledger/postgres/schema.ts')
    if (sql) {
      context.io.stdout.write(hardenedSql(fleet.leaseMs))
      return
    }
    const where = describeDatabase(fleet)
    if (!yes && !(await confirm(context, `Create the ledger in ${where}?`))) return
    const { from, to } = await initialise(
      ledgerAddress(fleet, { ...context.io, redactor: context.redactor }),
      fleet.leaseMs,
    )
    if (context.json) context.printJson({ database: where, from, to })
    else if (from === to) context.printMessage(`The ledger in ${where} is up to date (schema ${to})`)
    else context.printMessage(`${from === 0 ? 'Created' : 'Upgraded'} the ledger in ${where} (schema ${to})`)
  },
})

export const statusCommand = defineCommand({
  examples: [['fleet status', 'the hosts of the ledger, what they send now, and files that were sent twice']],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context) {
    const fleet = requireFleet(context)
    context.showWait(`waiting for ${describeDatabase(fleet)}`)
    await using view = await openView(context, fleet)
    const [hosts, totals] = [await view.listHosts(), await view.readTotals()]
    if (context.json) {
      context.printJson({
        ...totals,
        hosts: hosts.map(({ seenAt, ...host }) => ({ ...host, seenAt: isoTime(seenAt) })),
      })
      return
    }
    context.print(
      renderFields({
        database: describeDatabase(fleet),
        'distinct files': String(totals.contents),
        'being sent': String(totals.claims),
        'sent in 24 hours': String(totals.today),
        'second sends': String(totals.secondSends),
      }),
    )
    if (hosts.length === 0) return
    context.print('')
    const rows = hosts.map(({ name, version, seenAt, isOpen, claims }) => [
      ...[name, version, isOpen ? 'open' : 'closed', describeTime(seenAt) ?? 'never', String(claims)],
    ])
    context.printTable(['host', 'version', 'session', 'last beat', 'claims'], rows)
  },
})

export const forgetCommand = defineCommand({
  description:
    'For a host that will not come back: what it was sending is looked for, and sent by others where it is not found.',
  positionals: { host: { type: 'string', required: true, describe: 'Name of the host' } },
  examples: [['fleet forget old-laptop', 'end its session, and take it off the list of hosts']],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, { host: name }) {
    await using view = await openView(context, requireFleet(context))
    const found = (await view.listHosts()).filter((host) => host.name === name)
    const [host] = found
    if (!host)
      throw new UsageError(
        'bad-usage',
        `The ledger has no host "${escapeText(name)}"; "shelfd fleet status" lists them`,
      )
    if (found.length > 1) {
      throw new OperatorError(
        'host-in-use',
        `The ledger has ${found.length} hosts "${escapeText(name)}"; give each a name of its own (fleet.host)`,
      )
    }
    if ((await view.forgetHost(host.id)) === 'runs') {
      throw new OperatorError(
        'host-in-use',
        `"${escapeText(name)}" still runs (last beat ${describeTime(host.seenAt) ?? 'now'}): end shelfd there; if it was killed, try again in a few minutes`,
      )
    }
    if (context.json) context.printJson({ forgotten: name })
    else context.printMessage(`Forgot the host "${escapeText(name)}"`)
  },
})

function requireFleet({ settings }: CommandContext): FleetSettings {
  if (settings.fleet) return settings.fleet
  throw new UsageError('bad-configuration', 'This host is in no fleet: the configuration has no section "fleet"')
}

function describeDatabase({ database: { host, port, database } }: FleetSettings): string {
  return `"${escapeText(database)}" at ${escapeText(host)}:${port}`
}

function describeTime(timeMs: number | null): string | null {
  return timeMs === null ? null : timeOfDay(timeMs, Date.now())
}

async function confirm({ io }: CommandContext, question: string): Promise<boolean> {
  if (!io.isTerminal.stdin) throw new UsageError('bad-usage', 'Nobody can be asked here: add --yes')
  const prompts = await openPrompts(io)
  return await prompts.confirm(question, true)
}

async function openView({ io, redactor }: CommandContext, fleet: FleetSettings) {
  const { openFleetView } = await import('../../ledger/postgres/hosts.ts')
  return openFleetView(ledgerAddress(fleet, { ...io, redactor }))
}
