import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Bytes, fileIn, safeFileName, saveFile, warnOfForeignDirectory } from '../../app/files/user-files.ts'
import type { ViewUrl } from '../../contract/records.ts'
import { systemCodeOf } from '../../foundation/errors.ts'
import { anyNumber, wholeNumber } from '../../foundation/text/bounds.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { AssetView, Download } from '../../remote/service-client.ts'
import type { ArgumentsOf, ArgumentTable } from '../command.ts'
import type { CommandContext } from '../context.ts'

export const OUTPUT_OPTIONS = {
  output: {
    type: 'string',
    alias: 'o',
    placeholder: 'FILE',
    describe:
      'A file, a directory, or - for stdout; by default stdout when piped, otherwise a file of the name that the service gives',
  },
  force: { type: 'boolean', describe: 'Replace the file if it exists' },
} as const satisfies ArgumentTable

type OutputFlags = ArgumentsOf<typeof OUTPUT_OPTIONS>

/** A name that the service gives passes safeFileName before it is used. */
export async function writeDownload(context: CommandContext, download: Download, flags: OutputFlags): Promise<void> {
  const isPiped = flags.output === undefined && !context.io.isTerminal.stdout
  if (isPiped || flags.output === '-') return writeStdout(context, download.body)
  const file = await fileIn(resolve(context.io.cwd, flags.output ?? '.'), safeFileName(download.fileName ?? ''))
  await saveFile(file, download.body, { force: flags.force, signal: context.signal })
  await warnOfForeignDirectory(context.printMessage, dirname(file))
  if (context.json) context.printJson({ file, mime: download.mime ?? null })
  else context.printMessage(`Written to ${escapeText(file)}`)
}

/** Ignores EPIPE, because the reader may stop at any time. */
export async function writeStdout({ io, signal, endWait }: CommandContext, bytes: Bytes): Promise<void> {
  endWait()
  try {
    await pipeline(Readable.from(bytes, { objectMode: false }), io.stdout, { end: false, signal })
  } catch (error) {
    if (systemCodeOf(error) !== 'EPIPE') throw error
  }
}

/** A position in a video. */
export const SECONDS_OPTION = { type: 'number', bounds: anyNumber(0, 10_000_000), placeholder: 'SECONDS' } as const

export const VIEW_URL_OPTIONS = {
  ttl: { type: 'number', bounds: wholeNumber(1, 60), placeholder: 'MINUTES', describe: 'How long it works, 1 to 60' },
  disposition: {
    type: 'string',
    choices: ['inline', 'attachment'],
    describe: 'inline: the browser shows it; attachment: the browser saves it',
  },
} as const satisfies ArgumentTable

type ViewUrlFlags = ArgumentsOf<typeof VIEW_URL_OPTIONS>

export function readView({ ttl, disposition }: ViewUrlFlags): Pick<AssetView, 'ttlMinutes' | 'disposition'> {
  return { ...(ttl !== undefined && { ttlMinutes: ttl }), ...(disposition && { disposition }) }
}

/** Prints the URL unchanged, since any change makes it invalid. */
export function printViewUrl(context: CommandContext, view: ViewUrl): void {
  if (context.json) context.printJson(view)
  else {
    context.print(view.url)
    context.printMessage(`The URL works for ${view.expires_in_minutes} minutes, for anyone who has it`)
  }
}
