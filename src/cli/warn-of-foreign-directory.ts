import { warningOfForeignOwner } from '../app/files/user-files.ts'
import { escapeText } from '../foundation/text/safe-text.ts'

/** Warns of a target directory that belongs to another user. */
export async function warnOfForeignDirectory(printMessage: (line: string) => void, directory: string): Promise<void> {
  const warning = await warningOfForeignOwner(directory)
  if (warning !== undefined) printMessage(escapeText(warning))
}
