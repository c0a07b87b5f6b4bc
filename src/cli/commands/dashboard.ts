import { openWithSystem } from '../../app/open-with-system.ts'
import { connectToDaemon } from '../../daemon/control/client/connect-to-daemon.ts'
import type { Dashboard } from '../../dashboard/start-dashboard.ts'
import { untilAborted } from '../../foundation/concurrency/waits.ts'
import { assertMayRun, ROOT_OPTIONS } from '../allow-root.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'

export const command = defineCommand({
  description: [
    'Prints the address of a page, and opens it in the browser. The page shows the state of every mirror, the report, problems, what was',
    'sent when, the settings and the log; it can pause, resume and sync mirrors. The address works once, within five minutes, and on this',
    'computer only. A running daemon serves the page; without a daemon, this command serves it until it is stopped.',
  ].join('\n'),
  options: ROOT_OPTIONS,
  examples: [
    ['dashboard', 'open the dashboard'],
    ['dashboard --json', 'print its address as JSON, and open no browser'],
  ],
  exits: ['done', 'temporary', 'operator'],
  async run(context, { allowRoot }) {
    const daemon = await connectToDaemon(context.settings.stateDir)
    if (daemon) {
      await show(context, await daemon.dashboard())
      return
    }
    assertMayRun(context, allowRoot)
    await using dashboard = await serve(context)
    await show(context, dashboard.createAddress())
    context.printMessage('No daemon runs, so this command serves the dashboard until Ctrl-C')
    await untilAborted(context.signal)
  },
})

/** A separate function, because the compiler does not rewrite an import() in a function with `using`. */
async function serve(context: CommandContext): Promise<Dashboard> {
  const { serveDashboard } = await import('../../app/serve-dashboard.ts')
  const { io, settings, logger, redactor, signal } = context
  return serveDashboard(settings, {
    ...io,
    logger,
    redactor,
    signal,
    explainSettings: () => context.explainSettings(),
    readSettings: context.readSettings,
  })
}

/** Prints the address, and opens it in the browser if stdout is a terminal. */
async function show(context: CommandContext, url: string): Promise<void> {
  const { io, json } = context
  if (json) context.printJson({ url })
  else context.print(url)
  if (json || !io.isTerminal.stdout) return
  if (await openWithSystem(url, io.env)) context.printMessage('Opened in the browser')
  else context.printMessage('Open this address in a browser on this computer, within five minutes')
}
