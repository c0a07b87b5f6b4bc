import { type TitleColumn, titleWords } from '../database/passages-table.ts'
import { type Alternative, expressionOf } from './alternatives.ts'
import type { Mark } from './match-words.ts'
import type { PlannedClause, QueryPlan } from './plan-query.ts'
import { ordinalOf, type Postings, resourceOf, type ScoredPassage } from './postings.ts'

/** A resource with its matching passages, the best first. */
export interface FoundResource {
  readonly resourceId: number
  readonly ordinals: readonly number[]
  /** True if its best passage has every term that any passage has. */
  readonly hasAllTerms: boolean
  /** About 1 for a passage that has each of two terms once; more for one with more terms of a longer query. */
  readonly score: number
}

export interface FoundResources {
  /** The best first. */
  readonly resources: readonly FoundResource[]
  /** `all` if any resource has all terms, otherwise `some`. */
  readonly matched: 'all' | 'some'
}

/** Reads the positions at which a passage has words of the query. */
export type ReadMarks = (resourceId: number, ordinal: number) => readonly Mark[]

interface SearchSources {
  readonly postings: Postings
  readonly readMarks: ReadMarks
  /** Returns whether a resource may be found. */
  isShown?(resourceId: number): boolean
}

/** A clause that some passage has. */
interface WeighedClause extends PlannedClause {
  /** The index of the clause in the plan. */
  readonly index: number
  readonly expression: string
  /** The alternatives without those that hardly any passage has. */
  readonly usual: readonly Alternative[]
  /** The number of passages with the commonest alternative. */
  readonly count: number
  /** Greater for rarer clauses, and for those that the query repeats. */
  readonly weight: number
}

/** Clauses are scored passage by passage, the rarest first, up to about this many passages; commoner ones only where rarer ones are. */
const MAX_SCORED = 2_000
/** If fewer passages than this have the rarer clauses, common ones are also searched by themselves. */
const MIN_RARE_PASSAGES = 500
/** How many passages each search for common clauses by themselves reads. */
const MAX_PASSAGES = 1_000
/** How many clauses are searched that are too common to be scored passage by passage. */
const MAX_COMMON = 4
const MAX_EXCLUDED = 100_000
/** Forms in less than this share of a common clause's passages are not searched, because each form takes equally long. */
const MIN_FORM_SHARE = 0.005
/** The scores of a common clause by its position, about those of BM25 for a word that occurs once or twice in a usual passage. */
const COMMON_SCORES = { name: 1.8, heading: 1.4, text: 1 }
/** The share of a clause's score in a passage that counts in the passages before and after it. */
const NEIGHBOUR_SHARE = 0.2
/** The share by which the score of a passage rises if it has all clauses. */
const COVERAGE_WEIGHT = 0.5
/** How many of the best passages are read, to see which clauses they have close together. */
const MAX_READ = 12
/** The number of characters within which clauses are close together. */
const MAX_NEAR_LENGTH = 70
/** The share by which the score of a passage rises if it has all clauses close together. */
const PROXIMITY_WEIGHT = 1
/** The share of the clauses, by weight, that a good passage has close together. */
const USUAL_NEAR_SHARE = 0.6
/** The share by which the score of a resource's first passage rises, because it says what the resource is about. */
const FIRST_PASSAGE_WEIGHT = 0.3
/**
 * Scores are divided by the average weight of this many clauses. If they were divided by the weight of all clauses, long questions would
 * score less by words, and meaning, which does not depend on their length, would decide alone.
 */
const DIVIDING_CLAUSES = 2
/** A hit shows the passages that score at least this share of its best one. */
const SHOWN_SHARE = 0.5
/** The shares of their scores that the second and the third best passage add to a resource. */
const SECOND_SHARE = 0.05
const THIRD_SHARE = 0.03

/**
 * Finds up to `limit` resources with any of the clauses. Passages are ranked by BM25, where rarer clauses weigh more, and resources by
 * their best passages, so that a short resource that answers the query outranks a long one with each word somewhere. Lexical searches keep
 * this order; rank-by-words-and-meaning.ts orders the results of others.
 */
export function findResources(
  { clauses, excluded }: QueryPlan,
  { postings, readMarks, isShown = () => true }: SearchSources,
  limit: number,
): FoundResources {
  const weighed = withoutCommonest(weighClauses(clauses, postings))
  const excludedPassages = excluded === undefined ? [] : postings.matching(excluded, MAX_EXCLUDED)
  const excludedResources = new Set(excludedPassages.map(resourceOf))
  const passages = scoreClauses(weighed, postings).passages(
    (resourceId) => excludedResources.has(resourceId) || !isShown(resourceId),
  )
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0)
  const scores = Float64Array.from({ length: passages.count }, (_, index) => scoreOf(index, passages, weighed, total))
  if (weighed.length > 1) raiseNear(passages, scores, weighed, readMarks)
  const ranges = rangesOf(passages, scores)
  const best = bestOf(
    Float64Array.from(ranges, ({ score }) => score),
    limit,
  ).flatMap((index) => ranges[index] ?? [])
  const unknownWeight = (clauses.length - weighed.length) * postings.rarity(0)
  const usualProximity = weighed.length > 1 ? 1 + PROXIMITY_WEIGHT * USUAL_NEAR_SHARE : 1
  const dividingShare = Math.min(1, DIVIDING_CLAUSES / clauses.length)
  const divisor = (total + unknownWeight) * (1 + COVERAGE_WEIGHT) * usualProximity * dividingShare
  const hasAll = ({ from, to }: PassageRange) =>
    weighed.every(
      ({ isPart }, clause) => isPart || indexes(from, to).some((index) => passages.score(index, clause) > 0),
    )
  return {
    resources: best.map(({ from, to, best, score }) => {
      const shown = indexes(from, to).filter((index) => scoreAt(scores, index) >= SHOWN_SHARE * scoreAt(scores, best))
      return {
        resourceId: passages.resourceId(from),
        ordinals: shown.sort((one, other) => scoreAt(scores, other) - scoreAt(scores, one)).map(passages.ordinal),
        hasAllTerms: weighed.every(({ isPart }, clause) => isPart || passages.score(best, clause) > 0),
        score: score / divisor,
      }
    }),
    matched: weighed.length === clauses.length && ranges.some(hasAll) ? 'all' : 'some',
  }
}

/** Weighs the clauses that any passage has, and sorts them, the rarest first. A clause is as rare as its commonest alternative. */
function weighClauses(clauses: readonly PlannedClause[], postings: Postings): WeighedClause[] {
  return clauses
    .flatMap((clause, index) => {
      if (clause.expression === undefined) return []
      const count = Math.max(...clause.alternatives.map(postings.count))
      const usual = clause.alternatives.filter((each) => postings.count(each) >= MIN_FORM_SHARE * count)
      return [
        {
          ...clause,
          index,
          count,
          weight: clause.times * postings.rarity(count),
          expression: clause.expression,
          usual,
        },
      ]
    })
    .sort((one, other) => one.count - other.count)
}

/** Drops the commonest clauses, because they say little about a passage, and each takes as long as a rare one. */
function withoutCommonest(clauses: readonly WeighedClause[]): WeighedClause[] {
  let [budget, common] = [MAX_SCORED, 0]
  return clauses.filter(({ count }) => {
    if (count <= budget) {
      budget -= count
      return true
    }
    common += 1
    return common <= MAX_COMMON
  })
}

function scoreClauses(clauses: readonly WeighedClause[], postings: Postings): ClauseScores {
  const scores = new ClauseScores(clauses.length)
  const rare: string[] = []
  const common: (readonly [index: number, clause: WeighedClause])[] = []
  let budget = MAX_SCORED
  for (const [index, clause] of clauses.entries()) {
    const { alternatives, expression, usual, count, weight } = clause
    if (count <= budget) {
      budget -= count
      for (const each of alternatives) scores.raise(index, weight * each.weight, postings.scored(each, count))
      rare.push(expression)
    } else {
      common.push([index, clause])
      if (rare.length > 0)
        scores.raiseAll(index, weight, postings.matching(`${anyOf(usual)} AND (${rare.join(' OR ')})`, MAX_SCORED))
    }
  }
  // Otherwise a word that hardly any passage has would hide all passages without it.
  if (MAX_SCORED - budget < MIN_RARE_PASSAGES) scoreCommon(common, postings, scores)
  return scores
}

/** Scores common clauses in passages that have all of them, and the rarest of them in some passages that have it. */
function scoreCommon(
  clauses: readonly (readonly [index: number, clause: WeighedClause])[],
  postings: Postings,
  scores: ClauseScores,
): void {
  const [first] = clauses
  if (!first) return
  const together = (column?: TitleColumn) => `(${clauses.map(([, { usual }]) => anyOf(usual, column)).join(' AND ')})`
  const raise = (passages: readonly number[], score: number) => {
    for (const [index, { weight }] of clauses) scores.raiseAll(index, weight * score, passages)
  }
  raise(postings.matching(together('name'), MAX_PASSAGES), COMMON_SCORES.name)
  raise(postings.matching(together('heading'), MAX_PASSAGES), COMMON_SCORES.heading)
  raise(postings.matching(together(), MAX_PASSAGES), COMMON_SCORES.text)
  const [index, { weight, alternatives }] = first
  for (const each of alternatives.slice(0, 1)) scores.raise(index, weight, postings.scored(each, MAX_PASSAGES))
}

/** Returns the expression of passages with any of these alternatives, in this column or, without `column`, anywhere. */
function anyOf(alternatives: readonly Alternative[], column?: TitleColumn): string {
  const inTitle = (each: Alternative) =>
    column ? { ...each, words: each.words.map((word) => titleWords(column, word)) } : each
  return `(${alternatives.map((each) => expressionOf(inTitle(each))).join(' OR ')})`
}

function scoreOf(index: number, passages: ScoredPassages, clauses: readonly WeighedClause[], total: number): number {
  const isAfter = passages.follows(index)
  const isBefore = passages.follows(index + 1)
  let [sum, covered] = [0, 0]
  for (let clause = 0; clause < clauses.length; clause += 1) {
    const own = passages.score(index, clause)
    const before = isAfter ? passages.score(index - 1, clause) : 0
    const after = isBefore ? passages.score(index + 1, clause) : 0
    sum += Math.max(own, NEIGHBOUR_SHARE * before, NEIGHBOUR_SHARE * after)
    if (own > 0) covered += clauses[clause]?.weight ?? 0
  }
  return (
    sum * (1 + (COVERAGE_WEIGHT * covered) / total) * (passages.ordinal(index) === 0 ? 1 + FIRST_PASSAGE_WEIGHT : 1)
  )
}

/** Raises the scores of those of the best passages that have words of several clauses close together. */
function raiseNear(
  passages: ScoredPassages,
  scores: Float64Array,
  clauses: readonly WeighedClause[],
  readMarks: ReadMarks,
): void {
  const weights = new Map(clauses.map(({ index, weight }) => [index, weight]))
  const total = clauses.reduce((sum, { weight }) => sum + weight, 0)
  for (const index of bestOf(scores, MAX_READ)) {
    const marks = readMarks(passages.resourceId(index), passages.ordinal(index))
    const near = greatestWithin(MAX_NEAR_LENGTH, marks, weights)
    scores[index] = scoreAt(scores, index) * (1 + (PROXIMITY_WEIGHT * near) / total)
  }
}

/** Returns the greatest total weight of clauses that have words within `length` characters. */
function greatestWithin(length: number, marks: readonly Mark[], weights: ReadonlyMap<number, number>): number {
  const counts = new Map<number, number>()
  let [sum, greatest, from] = [0, 0, 0]
  const add = ({ clause }: Mark, added: 1 | -1) => {
    const before = counts.get(clause) ?? 0
    counts.set(clause, before + added)
    if (Math.max(before, before + added) === 1) sum += added * (weights.get(clause) ?? 0)
  }
  for (const mark of marks) {
    add(mark, 1)
    for (let first = marks[from]; first && mark.end - first.start > length; first = marks[from]) {
      add(first, -1)
      from += 1
    }
    greatest = Math.max(greatest, sum)
  }
  return greatest
}

/** The passages of one resource: those with the indexes from `from` to before `to`. */
interface PassageRange {
  readonly from: number
  readonly to: number
  /** The index of the best passage. */
  readonly best: number
  readonly score: number
}

function rangesOf(passages: ScoredPassages, scores: Float64Array): PassageRange[] {
  const ranges: PassageRange[] = []
  for (let from = 0; from < passages.count; ) {
    let [to, best] = [from, from]
    let [first, second, third] = [0, 0, 0]
    for (const resourceId = passages.resourceId(from); to < passages.count; to += 1) {
      if (passages.resourceId(to) !== resourceId) break
      const score = scoreAt(scores, to)
      if (score > scoreAt(scores, best)) best = to
      if (score > first) [first, second, third] = [score, first, second]
      else if (score > second) [second, third] = [score, second]
      else if (score > third) third = score
    }
    ranges.push({ from, to, best, score: first + SECOND_SHARE * second + THIRD_SHARE * third })
    from = to
  }
  return ranges
}

/** Returns the indexes of the `count` best scores, the best first. Finds the least of these scores first, to sort only their indexes. */
function bestOf(scores: Float64Array, count: number): number[] {
  const least = scores.toSorted().at(-count) ?? 0
  const found: number[] = []
  for (let index = 0; index < scores.length; index += 1) if (scoreAt(scores, index) >= least) found.push(index)
  return found.sort((one, other) => scoreAt(scores, other) - scoreAt(scores, one)).slice(0, count)
}

function scoreAt(scores: Float64Array, index: number): number {
  return scores[index] ?? 0
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/** The scores of each clause in each passage, in one flat array, because a search has thousands. */
class ClauseScores {
  readonly #clauses: number
  /** The index of the first score of a passage, by the number of the passage. */
  readonly #starts = new Map<number, number>()
  readonly #scores: number[] = []

  constructor(clauses: number) {
    this.#clauses = clauses
  }

  /** Raises the scores of a clause in these passages; the best of its alternatives counts. */
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

  /** Returns the passages with any clause, without those of excluded resources, in the order of their resources and ordinals. */
  passages(isExcluded: (resourceId: number) => boolean): ScoredPassages {
    const all = Float64Array.from(this.#starts.keys()).sort()
    const numbers = all.filter((passage) => !isExcluded(resourceOf(passage)))
    const starts = Uint32Array.from(numbers, (passage) => this.#starts.get(passage) ?? 0)
    const scores = this.#scores
    const numberAt = (index: number) => numbers[index] ?? 0
    return {
      count: numbers.length,
      resourceId: (index) => resourceOf(numberAt(index)),
      ordinal: (index) => ordinalOf(numberAt(index)),
      score: (index, clause) => scores[(starts[index] ?? 0) + clause] ?? 0,
      follows: (index) => index > 0 && numberAt(index) === numberAt(index - 1) + 1,
    }
  }
}

/** Passages by their index. Those of a resource have consecutive indexes. */
interface ScoredPassages {
  readonly count: number
  resourceId(index: number): number
  ordinal(index: number): number
  /** Returns the score of a clause in a passage, 0 if the passage does not have it. */
  score(index: number, clause: number): number
  /** Returns whether the passage directly follows the one with the previous index in the same resource. */
  follows(index: number): boolean
}
