import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { messageOf } from '../foundation/errors.ts'
import { escapeText } from '../foundation/text/safe-text.ts'
import type { CommandContext } from './context.ts'

/** Has a running daemon read a configuration that was written, and says how that went; returns whether one runs. */
export async function reloadDaemon({ printMessage }: CommandContext, stateDir: string): Promise<boolean> {
  const daemon = await connectToDaemon(stateDir)
  if (!daemon) return false
  try {
    const { mirrors } = await daemon.reload()
    const names = mirrors.map(escapeText).join(', ') || 'nothing'
    printMessage(`The running daemon has read it and keeps ${names} up to date`)
  } catch (error) {
    printMessage(`The running daemon cannot use it, so start it again: ${escapeText(messageOf(error))}`)
  }
  return true
}
