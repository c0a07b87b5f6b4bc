import type { ViewUrl } from '../../contract/records.ts'
import { anyNumber, wholeNumber } from '../../foundation/text/bounds.ts'
import type { AssetView } from '../../remote/service-client.ts'
import type { ArgumentTable } from '../command.ts'
import type { CommandContext } from '../context.ts'

/** A place in a video. */
export const SECONDS_OPTION = { type: 'number', bounds: anyNumber(0, 10_000_000), placeholder: 'SECONDS' } as const

/** Flags of the commands that create a temporary URL. */
export const VIEW_URL_OPTIONS = {
  ttl: { type: 'number', bounds: wholeNumber(1, 60), placeholder: 'MINUTES', describe: 'How long it works, 1 to 60' },
  disposition: {
    type: 'string',
    choices: ['inline', 'attachment'],
    describe: 'inline: the browser shows it; attachment: the browser saves it',
  },
} as const satisfies ArgumentTable

export interface ViewUrlFlags {
  readonly ttl: number | undefined
  readonly disposition: 'inline' | 'attachment' | undefined
}

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
