import { resolve } from 'node:path'
import { chooseStored, nothingMirrored } from '../../app/mirrors/choose-stored.ts'
import { openReader } from '../../app/open-engine.ts'
import { REPORT_CLASS_NAMES, SHOWN_STATES } from '../../contract/report-classes.ts'
import { UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { CHECKED_CLASSES } from '../../rules/report-class.ts'
import { defineCommand } from '../command.ts'
import { printReport, saveReport } from '../render/report/print-report.ts'
import { REPORT_FORMATS } from '../render/report/report-printer.ts'
import { describeLacking } from '../render/status-text.ts'
import { FLEET_FLAGS, isOfFleet, showFleetReport } from '../show-fleet.ts'

export const command = defineCommand({
  description: [
    'Compares the directory, the state and a complete listing of the library. Each file and each entry is in exactly one class:',
    '= in-sync, ~ processing, + local-only, - remote-only, * changed, ^ superseded, ? missing-remotely,',
    '! needs-attention, i ignored (only with --only ignored), u unknown. It changes nothing.',
  ].join('\n'),
  positionals: {
    mirrors: {
      type: 'string',
      array: true,
      describe: 'Names of mirrors, or their directories',
      placeholder: 'MIRROR',
      completes: 'mirrors',
    },
  },
  options: {
    format: { type: 'string', choices: REPORT_FORMATS, default: 'text', describe: 'Format of the report' },
    output: {
      type: 'string',
      alias: 'o',
      placeholder: 'FILE',
      describe: 'Write the report to this file, which is replaced once the report is complete',
    },
    only: {
      type: 'string',
      describe: 'Only rows of these classes, or of without-text, gone, left-out, set-aside, unsupported',
      placeholder: 'CLASS,…',
    },
    offline: { type: 'boolean', describe: 'Use the state alone; read neither the directory nor the service' },
    all: { type: 'boolean', describe: "Also list the library's entries outside the mirror" },
    verify: {
      type: 'boolean',
      describe: 'Download every sent content and compare it with what was sent; exit 1 when one differs or is missing',
    },
    check: { type: 'boolean', describe: 'Exit 1 when anything differs or needs attention' },
    ...FLEET_FLAGS,
    'fail-on': { type: 'string', describe: 'With --check: exit 1 on rows of these classes', placeholder: 'CLASS,…' },
  },
  settingFlags: ['transfers', 'checkers'],
  examples: [
    ['report', 'what differs, and the counts, for every mirror'],
    ['report papers --format combined', 'one line for each file, in the format of rclone'],
    ['report --format html -o report.html', 'a page to read and to share'],
    ['report --only superseded,needs-attention', 'what needs a decision'],
    ['report --verify', 'download every sent content and compare it with what was sent'],
    ['report --fleet', 'files by state, and problems, of all hosts that share a ledger, as they reported them'],
    ['report --check --quiet', 'for scripts: exit 1 when anything differs or needs attention'],
  ],
  exits: ['done', 'failed', 'rootMissing', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    if (isOfFleet(args)) {
      await showFleetReport(context, args)
      return
    }
    if (args.verify && args.offline)
      throw new UsageError('bad-usage', '--verify asks the service for every content: leave out --offline')
    const failOn = args.failOn === undefined ? CHECKED_CLASSES : readClasses('fail-on', args.failOn, REPORT_CLASS_NAMES)
    // With --quiet, a check lists only the classes that fail it.
    const isText = !context.json && args.format === 'text' && args.output === undefined
    const isQuiet = args.check && context.quiet && isText
    const only = args.only === undefined ? (isQuiet ? failOn : undefined) : readClasses('only', args.only, SHOWN_STATES)
    if (args.failOn !== undefined && !args.check) throw new UsageError('bad-usage', '--fail-on needs --check')
    await using reader = openReader(context.settings, {
      ...context.io,
      logger: context.logger,
      redactor: context.redactor,
      onOutage: context.onOutage,
    })
    if (!reader.store) {
      chooseStored(context.settings, [], { words: args.mirrors, cwd: context.io.cwd, isOffline: args.offline })
      throw nothingMirrored()
    }
    const lacking = describeLacking(reader.store)
    if (lacking) context.printMessage(lacking)
    const format = context.json ? 'json' : args.format
    const options = {
      format,
      only,
      isOffline: args.offline,
      showsAll: args.all,
      failOn,
      verifies: args.verify,
      isQuiet,
    } as const
    const reportContext = reader.contextFor(reader.store)
    context.showWait(args.offline ? 'reading the state' : 'comparing both sides')
    const file = args.output === undefined ? undefined : resolve(context.io.cwd, args.output)
    const { hasFailures, hasFaults } =
      file === undefined
        ? await printReport(context, reportContext, args.mirrors, options)
        : await saveReport(context, reportContext, args.mirrors, { ...options, file })
    if (file !== undefined) context.printMessage(`Written to ${escapeText(file)}`)
    return hasFaults || (args.check && hasFailures) ? 'failed' : 'done'
  },
})

function readClasses<Name extends string>(flag: string, text: string, names: readonly Name[]): ReadonlySet<Name> {
  return new Set(
    text.split(',').map((word) => {
      const found = names.find((name) => name === word.trim())
      if (found) return found
      throw new UsageError('bad-usage', `Cannot read --${flag}: "${word}" is not a class (${names.join(', ')})`)
    }),
  )
}
