import { describeOwner } from '../app/files/user-files.ts'
import { escapeText } from '../foundation/text/safe-text.ts'

/** Warns of a target directory that belongs to another user. */
export async function sayWhoseDirectory(printMessage: (line: string) => void, directory: string): Promise<void> {
  const said = await describeOwner(directory)
  if (said !== undefined) printMessage(escapeText(said))
}
