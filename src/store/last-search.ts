import { statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { systemCodeOf } from '../foundation/errors.ts'
import { readOwnFile } from '../foundation/files/own-file.ts'
import { ownUid } from '../foundation/files/ownership.ts'
import { replaceFile } from '../foundation/files/replace-file.ts'
import { parseJson } from '../foundation/text/parse-json.ts'
import { DAY_MS } from '../foundation/text/times.ts'

/** What the last search in a terminal showed, so that `open` knows its hits by their numbers, and which notices were shown when. */
const FILE = 'last-search.json'
const MAX_BYTES = 100_000

const shape = z.object({
  first: z.int(),
  resourceIds: z.array(z.string()),
  notices: z.record(z.string(), z.number()),
})

type LastSearch = z.infer<typeof shape>

/** Returns the resource of a hit by its number; undefined when the last search showed no such hit. */
export function resourceOfHit(stateDir: string, number: number): string | undefined {
  const { first, resourceIds } = read(stateDir)
  return resourceIds[number - first]
}

/** Keeps the numbers of these hits; `before` hits come before them. */
export function keepSearch(
  stateDir: string,
  before: number,
  hits: readonly { readonly resource: { readonly id: string } }[],
): void {
  write(stateDir, { ...read(stateDir), first: before + 1, resourceIds: hits.map(({ resource }) => resource.id) })
}

/** Returns the first sentence of a notice that was not shown within a day, those about words of the query first, or an empty text. */
export function takeNotice(stateDir: string, notice: string, nowMs: number): string {
  const kept = read(stateDir)
  const sentences = notice.split(NEXT_SENTENCE).filter((sentence) => sentence !== '')
  const byUse = sentences.toSorted((one, other) => Number(ABOUT_WORDS.test(other)) - Number(ABOUT_WORDS.test(one)))
  const recent = Object.entries(kept.notices).filter(([, shownMs]) => Math.abs(nowMs - shownMs) < DAY_MS)
  const notices = Object.fromEntries(recent)
  const sentence = byUse.find((each) => notices[kindOf(each)] === undefined)
  if (sentence === undefined) return ''
  write(stateDir, { ...kept, notices: { ...notices, [kindOf(sentence)]: nowMs } })
  return sentence
}

/** A sentence that begins with "The" says more about the one before. */
const NEXT_SENTENCE = /(?<=[.!?]) (?=\p{Lu})(?!The )/u
/** How the embedded library begins sentences about words of the query. */
const ABOUT_WORDS = /^No(?:ne has| resource) /

/** Counts in a sentence do not make it another one. */
function kindOf(sentence: string): string {
  return sentence.replaceAll(/[\d.,]+/g, '0')
}

function read(stateDir: string): LastSearch {
  const { data } = shape.safeParse(parseJson(readOwnFile(join(stateDir, FILE), MAX_BYTES)))
  return data ?? { first: 1, resourceIds: [], notices: {} }
}

/**
 * Writes nothing before anything was mirrored, and nothing into the state of another user, who could not read it. Where it cannot write,
 * as beside another search, the earlier hits keep their numbers.
 */
function write(stateDir: string, search: LastSearch): void {
  const owner = statSync(stateDir, { throwIfNoEntry: false })?.uid
  if (owner === undefined || owner !== (ownUid() ?? owner)) return
  try {
    replaceFile(join(stateDir, FILE), JSON.stringify(search))
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error
  }
}
