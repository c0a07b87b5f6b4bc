import { statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { systemCodeOf } from '../foundation/errors.ts'
import { readOwnFile } from '../foundation/files/own-file.ts'
import { ownUid } from '../foundation/files/ownership.ts'
import { replaceFile } from '../foundation/files/replace-file.ts'
import { parseJson } from '../foundation/text/parse-json.ts'
import { DAY_MS } from '../foundation/text/times.ts'

/** Keeps the hits of the last search in a terminal, so that `open` takes their numbers, and when notices were shown. */
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

/** Keeps these hits with their numbers; they come after `before` others. */
export function keepSearch(
  stateDir: string,
  before: number,
  hits: readonly { readonly resource: { readonly id: string } }[],
): void {
  write(stateDir, { ...read(stateDir), first: before + 1, resourceIds: hits.map(({ resource }) => resource.id) })
}

/** Returns a sentence of a notice that was not shown within a day, preferably one about words of the query; empty if there is none. */
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

/** Separates sentences, except before "The": such a sentence explains the previous one. */
const NEXT_SENTENCE = /(?<=[.!?]) (?=\p{Lu})(?!The )/u
/** How the embedded library begins sentences about words of the query. */
const ABOUT_WORDS = /^No(?:ne has| resource) /

/** Sentences that differ only in their numbers are of one kind. */
function kindOf(sentence: string): string {
  return sentence.replaceAll(/[\d.,]+/g, '0')
}

function read(stateDir: string): LastSearch {
  const { data } = shape.safeParse(parseJson(readOwnFile(join(stateDir, FILE), MAX_BYTES)))
  return data ?? { first: 1, resourceIds: [], notices: {} }
}

/**
 * Writes nothing if there is no state directory yet, or if it belongs to another user, who could not read the file. If it cannot write,
 * for instance beside another search, the earlier hits keep their numbers.
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
