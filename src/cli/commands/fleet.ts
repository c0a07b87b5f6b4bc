import { ledgerAddress } from '../../app/open-fleet.ts'
import { OperatorError, UsageError } from '../../foundation/errors.ts'
import { escapeText, shellWord } from '../../foundation/text/safe-text.ts'
import { version } from '../../foundation/version.ts'
import { sessionState } from '../../ledger/fleet-view.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { renderFields } from '../render/layout.ts'
import { describeDatabase, describeTime, findHost, hostJson, openView, requireFleet, showHosts } from '../show-fleet.ts'
import { openPrompts } from '../terminal/prompts.ts'

export const initCommand = defineCommand({
  description: [
    'The role of "fleet.database" becomes the owner of the ledger, so it must own the database or be allowed to create schemas in it. A',
    'second run changes nothing. If the role may only call functions, let an administrator run the SQL that --sql prints.',
  ].join('\n'),
  options: {
    yes: { type: 'boolean', describe: 'Do not ask' },
    sql: {
      type: 'boolean',
      describe: 'Print the SQL that creates the ledger with separate roles, and change nothing',
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
    const { hardenedSql, initialise } = await import('../../ledger/postgres/ledger-schema.ts')
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

export const upgradeCommand = defineCommand({
  description: [
    'Hosts with the previous version of shelfd can use an upgraded ledger. So upgrade shelfd on one host, run this command there, and',
    'upgrade the other hosts whenever it suits; the command names those that are behind. With separate roles, let an administrator run',
    'the SQL that "fleet init --sql" prints.',
  ].join('\n'),
  examples: [['fleet upgrade', 'after an upgrade of shelfd on this host']],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context) {
    const fleet = requireFleet(context)
    const where = describeDatabase(fleet)
    const { upgrade } = await import('../../ledger/postgres/ledger-schema.ts')
    const { from, to } = await upgrade(ledgerAddress(fleet, { ...context.io, redactor: context.redactor }))
    await using view = await openView(context)
    const behind = (await view.listHosts()).filter((host) => host.version !== version)
    if (context.json) {
      context.printJson({
        database: where,
        from,
        to,
        behind: behind.map(({ name, version }) => ({ host: name, version })),
      })
      return
    }
    context.printMessage(`${from === to ? 'Up to date:' : 'Upgraded'} the ledger in ${where} (schema ${to})`)
    for (const host of behind)
      context.printMessage(`  ${escapeText(host.name)} has shelfd ${escapeText(host.version)}, this host ${version}`)
  },
})

export const statusCommand = defineCommand({
  examples: [['fleet status', 'the hosts of the ledger, what they send now, and files that were sent twice']],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context) {
    const fleet = requireFleet(context)
    await using view = await openView(context)
    const [hosts, totals] = [await view.listHosts({ countsClaims: true }), await view.readTotals()]
    if (context.json) {
      context.printJson({ ...totals, hosts: hosts.map(hostJson) })
      return
    }
    context.print(
      renderFields({
        database: describeDatabase(fleet),
        'distinct files': `${totals.isAbout ? 'about ' : ''}${totals.contents}`,
        'being sent': String(totals.claims),
        'sent in 24 hours': String(totals.today),
        'second sends': String(totals.secondSends),
      }),
    )
    if (hosts.length === 0) return
    context.print('')
    const rows = hosts.map((host) => [
      ...[host.name, host.version, sessionState(host), describeTime(host.seenAt) ?? 'never', String(host.claims)],
    ])
    context.printTable(['host', 'version', 'session', 'last beat', 'claims'], rows)
  },
})

export const hostsCommand = defineCommand({
  description: [
    'Shows for each host its version, its last beat, its mirrors by state (✓ nothing to do, → in progress, ! something to know,',
    '✗ stopped until somebody acts), and how many files wait, have problems and were sent in the last 24 hours. A host reports',
    'this after each run; its daemon reports it when something changed, at most once a minute.',
  ].join('\n'),
  examples: [
    ['fleet hosts', 'what each host does'],
    ['fleet hosts --json', 'the same for scripts'],
  ],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context) {
    await showHosts(context)
  },
})

export const orderCommand = defineCommand({
  description: [
    'The daemon of that host carries out the order within a third of the lease: it pauses or resumes the uploads of these mirrors, or',
    'of all, or syncs them now. If no daemon runs there, a pause or its end takes effect with the next one.',
  ].join('\n'),
  positionals: {
    host: { type: 'string', required: true, describe: 'Name of the host' },
    order: { type: 'string', required: true, choices: ['pause', 'resume', 'sync'], describe: 'What the host is to do' },
    mirrors: { type: 'string', array: true, describe: 'Names of mirrors of that host', placeholder: 'MIRROR' },
  },
  examples: [
    ['fleet order nas pause', 'hold back the uploads of all mirrors of the host "nas"'],
    ['fleet order nas sync papers', 'sync one of its mirrors now'],
  ],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, { host: name, order: kind, mirrors }) {
    await using view = await openView(context)
    const host = await findHost(view, name)
    const { id } = host
    const shared = (await view.listMirrors(id)).map((mirror) => mirror.name)
    const unknown = mirrors.find((mirror) => !shared.includes(mirror))
    if (unknown !== undefined) {
      const text = `"${escapeText(name)}" has no mirror "${escapeText(unknown)}"`
      throw new UsageError('bad-usage', `${text}; "shelfd status --host ${shellWord(escapeText(name))}" lists them`)
    }
    for (const mirror of mirrors.length > 0 ? mirrors : [null]) await view.giveOrder(id, { kind, mirror })
    if (context.json) context.printJson({ host: name, order: kind, mirrors: mirrors.length === 0 ? 'all' : mirrors })
    else {
      const isOpen = sessionState(host) === 'open'
      const when = isOpen ? 'takes it within a third of the lease' : 'takes it once shelfd runs there again'
      const which = mirrors.length === 0 ? 'all mirrors' : mirrors.map(escapeText).join(', ')
      context.printMessage(`Ordered: ${kind} ${which}; "${escapeText(name)}" ${when}`)
    }
  },
})

export const forgetCommand = defineCommand({
  description:
    'For a host that will not come back. Other hosts look for the files that it was sending, and send those that they do not find.',
  positionals: { host: { type: 'string', required: true, describe: 'Name of the host' } },
  examples: [['fleet forget old-laptop', 'end its session, and take it off the list of hosts']],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, { host: name }) {
    await using view = await openView(context)
    const host = await findHost(view, name)
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

async function confirm(context: CommandContext, question: string): Promise<boolean> {
  if (!context.io.isTerminal.stdin) throw new UsageError('bad-usage', 'Cannot ask without a terminal: add --yes')
  const prompts = await openPrompts(context)
  return await prompts.confirm(question, true)
}
