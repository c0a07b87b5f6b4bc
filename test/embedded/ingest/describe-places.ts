import { expect, it } from 'vitest'
import { mimeOf } from '../../../src/contract/mime.ts'
import { readHere } from './read-here.ts'

/** For each place of a format, a document that has the word `heron` there. */
type Places = Readonly<Record<string, string | Buffer | (() => Buffer)>>

/**
 * What a reader must do with each place where its format can hold text that a viewer shows: give its words as they are seen, or say
 * that it passes over something. The keys of the inner tables begin with the name of the file.
 */
async function expectFoundOrNamed(name: string, document: string | Buffer): Promise<void> {
  const outcome = await readHere(mimeOf(name), [Buffer.from(document)]).catch((error: unknown) => error)
  if (outcome instanceof Error) throw outcome
  const { text, end } = outcome as Awaited<ReturnType<typeof readHere>>
  const words = text.split(/[^\p{L}\p{N}]+/u)
  // A picture is left to the stage that recognizes text.
  const isNamed =
    end.status === 'partial' || end.status === 'running' || end.warnings.some((warning) => NAMED.test(warning))
  if (!isNamed) expect({ words, status: end.status }).toMatchObject({ words: expect.arrayContaining(['heron']) })
}

/** Warnings that name something that was passed over; others only say how well the text was read. */
const NAMED = /not read|Attachment|without text|Only the first/

export function describePlaces(format: string, places: Places): void {
  it.each(Object.entries(places))(`${format}: %s`, async (place, document) => {
    await expectFoundOrNamed(place.replace(/ .*/, ''), typeof document === 'function' ? document() : document)
  })
}
