import { HeldBackError } from '../../../foundation/errors.ts'
import { escapeText } from '../../../foundation/text/safe-text.ts'
import type { MirrorRow } from '../../../store/tables/mirrors.ts'
import type { MirrorSettings } from '../../../sync/engine.ts'
import type { CommandContext } from '../../context.ts'
import { askLine } from '../../terminal/ask-line.ts'

/**
 * Asks about each new mirror whose directory holds the home or the system; returns true when all were confirmed. Returns
 * false without a terminal; the run then refuses such mirrors. Throws HeldBackError when the answer is no.
 */
export async function confirmBroadRoot(
  context: CommandContext,
  mirrors: readonly MirrorSettings[],
  known: readonly MirrorRow[],
): Promise<boolean> {
  if (!context.io.isTerminal.stdin) return false
  for (const { name, path, breadth } of mirrors) {
    if (breadth === null || known.some((row) => row.name === name)) continue
    const answer = await askLine(context, `Mirroring "${escapeText(path)}" sends ${breadth}. Is that meant? [y/N] `)
    if (/^y(?:es)?$/i.test(answer.trim())) continue
    throw new HeldBackError('confirmation-needed', `"${path}" is not mirrored: it holds ${breadth}`)
  }
  return true
}
