import type { Draft } from '../../../../app/setup/draft.ts'
import { connectToDaemon } from '../../../../daemon/control/client/connect-to-daemon.ts'
import { messageOf } from '../../../../foundation/errors.ts'
import { escapeText } from '../../../../foundation/text/safe-text.ts'
import type { Wizard } from './wizard.ts'

/** Has a running daemon read the configuration again and reports what it does now; returns whether one runs. */
export async function tellDaemon({ context }: Wizard, draft: Draft): Promise<boolean> {
  const daemon = await connectToDaemon(draft.readSettings().stateDir)
  if (!daemon) return false
  try {
    const { mirrors } = await daemon.reload()
    const names = mirrors.map(escapeText).join(', ') || 'nothing'
    context.printMessage(`The running daemon has read it and keeps ${names} up to date`)
  } catch (error) {
    context.printMessage(`The running daemon cannot use it, so start it again: ${escapeText(messageOf(error))}`)
  }
  return true
}
