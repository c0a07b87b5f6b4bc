import { assertMayRun, ROOT_OPTIONS } from '../allow-root.ts'
import { defineCommand } from '../command.ts'

export const command = defineCommand({
  description: [
    'Watches every mirror, sends each changed file once it has settled, rescans at intervals (rescan), keeps to schedules and limits,',
    'and follows the ingestion of what it sent. Only one daemon can use a state directory; while it runs, "sync", "status" and other',
    'commands ask it. SIGTERM stops it in an orderly way; on SIGHUP it reads the configuration again.',
  ].join('\n'),
  options: ROOT_OPTIONS,
  settingFlags: [
    'health-listen',
    'library-listen',
    'transfers',
    'checkers',
    'bwlimit',
    'max-new',
    'max-new-per-day',
    'requests-per-second',
    'in-ingestion',
  ],
  examples: [
    ['daemon', 'keep all configured mirrors up to date, or those that were synced before'],
    ['daemon --library-listen 127.0.0.1:8800', 'the same, and show the embedded library to browsers at this address'],
    ['daemon --health-listen 127.0.0.1:9847', 'the same, and serve health and metrics on this address'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { allowRoot }) {
    assertMayRun(context, allowRoot)
    const { openDaemon } = await import('../../app/open-daemon.ts')
    const { io, settings, logger, redactor, signal } = context
    await openDaemon(settings, {
      ...io,
      logger,
      redactor,
      signal,
      onHangup: io.onHangup,
      readSettings: context.readSettings,
      explainSettings: context.explainSettings,
    })
  },
})
