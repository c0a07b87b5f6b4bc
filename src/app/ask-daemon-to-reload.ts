import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { messageOf } from '../foundation/errors.ts'
import { escapeText } from '../foundation/text/safe-text.ts'

/** Returns in words how the daemon took the new configuration; undefined where none runs. */
export async function reloadDaemon(stateDir: string): Promise<string | undefined> {
  const daemon = await connectToDaemon(stateDir)
  if (!daemon) return undefined
  try {
    const { mirrors } = await daemon.reload()
    const names = mirrors.map(escapeText).join(', ') || 'nothing'
    return `The running daemon has read it and keeps ${names} up to date`
  } catch (error) {
    return `The running daemon cannot use it, so start it again: ${escapeText(messageOf(error))}`
  }
}
