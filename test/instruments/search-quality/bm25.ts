import { isFunctionWord, type Language } from '../../../src/embedded/analysis/function-words.ts'
import { stemWord } from '../../../src/embedded/analysis/stem-word.ts'
import type { CorpusDocument } from './corpus.ts'

// The usual constants: how soon a word that is repeated counts no more, and how much long documents are disadvantaged.
const K1 = 1.2
const B = 0.75

/**
 * Asks a plain index in memory all queries: any of the words by their stems, function words left out, BM25 over documents, as search servers
 * rank by default.
 */
export function askBm25(
  documents: readonly CorpusDocument[],
  queries: readonly string[],
  depth: number,
  language: Language,
): string[][] {
  const stems = (text: string) =>
    (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
      .filter((word) => !isFunctionWord(word, language))
      .map((word) => stemWord(word, language))
  const postings = new Map<string, Map<number, number>>()
  const lengths = documents.map(({ text }, document) => {
    const words = stems(text)
    for (const word of words) {
      const counts = postings.get(word) ?? new Map<number, number>()
      counts.set(document, (counts.get(document) ?? 0) + 1)
      postings.set(word, counts)
    }
    return words.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  return queries.map((query) => {
    const scores = new Map<number, number>()
    for (const word of stems(query)) {
      const counts = postings.get(word) ?? new Map<number, number>()
      const rarity = Math.log1p((documents.length - counts.size + 0.5) / (counts.size + 0.5))
      for (const [document, count] of counts) {
        const norm = K1 * (1 - B + (B * (lengths[document] ?? 0)) / mean)
        scores.set(document, (scores.get(document) ?? 0) + (rarity * count) / (count + norm))
      }
    }
    const best = [...scores].toSorted(([, one], [, other]) => other - one).slice(0, depth)
    return best.map(([document]) => documents[document]?.path ?? '')
  })
}
