import { ordinalOf, resourceOf, type ScoredPassage } from './postings.ts'

/** What each clause of a query scores in a passage. A search has thousands, so they are kept in few flat arrays. */
export class ClauseScores {
  readonly #clauses: number
  /** Where the scores of a passage begin, by its number. */
  readonly #starts = new Map<number, number>()
  readonly #scores: number[] = []

  constructor(clauses: number) {
    this.#clauses = clauses
  }

  /** Of the words of a clause, the best counts. */
  raise(clause: number, weight: number, rows: readonly ScoredPassage[]): void {
    for (const [passage, score] of rows) this.#raiseOne(clause, passage, weight * score)
  }

  raiseAll(clause: number, score: number, passages: readonly number[]): void {
    for (const passage of passages) this.#raiseOne(clause, passage, score)
  }

  #raiseOne(clause: number, passage: number, score: number): void {
    let start = this.#starts.get(passage)
    if (start === undefined) {
      start = this.#scores.length
      this.#starts.set(passage, start)
      for (let each = 0; each < this.#clauses; each += 1) this.#scores.push(0)
    }
    this.#scores[start + clause] = Math.max(this.#scores[start + clause] ?? 0, score)
  }

  /** The passages that any clause scores in, except those of some resources, by their resources and ordinals. */
  passages(isExcluded: (resourceId: number) => boolean): ScoredPassages {
    const all = Float64Array.from(this.#starts.keys()).sort()
    const numbers = all.filter((passage) => !isExcluded(resourceOf(passage)))
    const starts = Uint32Array.from(numbers, (passage) => this.#starts.get(passage) ?? 0)
    const scores = this.#scores
    const at = (index: number) => numbers[index] ?? 0
    return {
      count: numbers.length,
      resourceId: (index) => resourceOf(at(index)),
      ordinal: (index) => ordinalOf(at(index)),
      score: (index, clause) => scores[(starts[index] ?? 0) + clause] ?? 0,
      follows: (index) => index > 0 && at(index) === at(index - 1) + 1,
    }
  }
}

/** Passages by their index, those of a resource one after the other. */
export interface ScoredPassages {
  readonly count: number
  resourceId(index: number): number
  ordinal(index: number): number
  /** 0 where the passage does not have the clause. */
  score(index: number, clause: number): number
  /** True when the passage comes right after the one before it in the same resource. */
  follows(index: number): boolean
}
