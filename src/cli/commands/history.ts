import { chooseNames } from '../../app/mirrors/choose-stored.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { groupDigits } from '../../foundation/text/safe-text.ts'
import { formatTime } from '../../foundation/text/times.ts'
import { formatDuration, formatSize } from '../../foundation/text/units.ts'
import type { PublishedRun } from '../../ledger/published.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { readHistory } from '../../sync/report/run-history.ts'
import { defineCommand } from '../command.ts'
import { FLEET_FLAGS, isOfFleet, readFleetRuns, withHost } from '../show-fleet.ts'

export const command = defineCommand({
  description: [
    'Lists runs of "sync", and those of the daemon that sent or followed something, the newest first. A run ended well, left something to',
    'do, ended with problems, was stopped by an error, was interrupted, is running, or was cut off because its process ended first. In',
    'JSON, the verdict is ok, incomplete, failed, interrupted, running or cut off. shelfd keeps the last 1,000 runs.',
  ].join('\n'),
  positionals: { mirror: { type: 'string', describe: 'Only runs with this mirror', completes: 'mirrors' } },
  options: {
    limit: { type: 'number', bounds: wholeNumber(1, 1_000), default: 20, describe: 'How many runs to list at most' },
    ...FLEET_FLAGS,
  },
  examples: [
    ['history', 'the last 20 runs'],
    ['history --fleet', 'the last 20 runs of all hosts that share a ledger'],
    ['history papers --limit 5 --json', 'the last five runs with the mirror "papers", for scripts'],
  ],
  exits: ['done', 'temporary', 'refused', 'operator'],
  async run(context, { mirror, limit, ...flags }) {
    if (isOfFleet(flags)) {
      const runs = await readFleetRuns(context, flags, { limit, mirror })
      if (context.json) context.printJson({ runs: runs.map(withHost) })
      else if (runs.length === 0) context.printMessage('No host has reported such a run yet')
      else
        context.printTable(
          ['host', ...HEADINGS],
          runs.map((run) => [run.host, ...rowOf(run)]),
        )
      return
    }
    using store = openStoreReader(context.settings.stateDir)
    const runs = store ? readHistory(store, { limit, mirror }) : []
    // The store has runs of mirrors that were forgotten.
    if (runs.length === 0 && mirror !== undefined) chooseNames(context.settings, [mirror])
    if (context.json) context.printJson({ runs })
    else if (runs.length > 0) context.printTable(HEADINGS, runs.map(rowOf))
    else
      context.printMessage(
        `No run${mirror === undefined ? '' : ` of the mirror "${mirror}"`} yet: see "shelfd sync --help"`,
      )
  },
})

const HEADINGS = ['run', 'started', 'took', 'ending', 'sent', 'problems', 'mirrors']

function rowOf({ run, startedAt, durationMs, verdict, ending = verdict, mirrors }: PublishedRun): string[] {
  const total = (key: 'sent' | 'bytes' | 'problems') => mirrors.reduce((sum, mirror) => sum + mirror[key], 0)
  const size = total('bytes') === 0 ? '' : `, ${formatSize(total('bytes'))}`
  return [
    String(run),
    formatTime(Date.parse(startedAt), Date.now()),
    durationMs === null ? '' : formatDuration(durationMs),
    ending,
    mirrors.length === 0 ? '' : `${groupDigits(total('sent'))}${size}`,
    mirrors.length === 0 ? '' : groupDigits(total('problems')),
    mirrors.map(({ name }) => name).join(', '),
  ]
}
