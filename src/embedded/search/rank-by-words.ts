import { type TitleColumn, titleWords } from '../database/passages-table.ts'
import { type Alternative, expressionOf } from './alternatives.ts'
import { ClauseScores, type ScoredPassages } from './clause-scores.ts'
import type { Mark } from './match-words.ts'
import type { PlannedClause, QueryPlan } from './plan-query.ts'
import { type Postings, resourceOf } from './postings.ts'

/** A resource with its matching passages, the best first. */
export interface FoundResource {
  readonly resourceId: number
  readonly ordinals: readonly number[]
  /** True if its best passage has all the terms that are known. */
  readonly isWhole: boolean
  /** About 1 if a passage has each term of a query of two once, known or not; more if it has more terms of a longer one. */
  readonly score: number
}

export interface FoundResources {
  /** The best first. */
  readonly resources: readonly FoundResource[]
  /** `all` if a resource has all terms, `some` if each of them lacks one. */
  readonly matched: 'all' | 'some'
}

/** Reads where a passage has the words of the query. */
export type ReadMarks = (resourceId: number, ordinal: number) => readonly Mark[]

/** What is searched. */
interface Searched {
  readonly postings: Postings
  readonly readMarks: ReadMarks
  /** Leaves out resources as if they were not there. */
  isShown?(resourceId: number): boolean
}

/** A clause that some passage has. */
interface WeighedClause extends PlannedClause {
  /** Its index in the plan. */
  readonly index: number
  readonly expression: string
  /** Without the forms that hardly any passage has. */
  readonly usual: readonly Alternative[]
  /** The number of passages that have it. */
  readonly count: number
  /** The rarer, the greater. */
  readonly weight: number
}

/** A search scores about this number of passages one by one; commoner words count only where they meet rarer ones. */
const MAX_SCORED = 2_000
/** If fewer passages have the rarer words, common ones are looked for alone, too. */
const FEW = 500
/** Of the passages of a common word, this number is looked at. */
const MAX_PASSAGES = 1_000
/** So many clauses of words too common to be scored one by one are looked at. */
const MAX_COMMON = 4
const MAX_EXCLUDED = 100_000
/** A search leaves out a form of a common clause that fewer than this share of its passages have: it takes as long as any other. */
const RARE_FORM = 0.005
/** What a common word scores, about as much as one that BM25 finds once or twice in a passage of the usual length. */
const PRESENT = { name: 1.8, heading: 1.4, text: 1 }
/** The share of its score that a clause has in the passages before and after. */
const NEIGHBOUR = 0.2
/** A passage with all clauses scores so much more than the sum of its clauses. */
const COVERAGE = 0.5
/** Of the best passages, this number is read: one that has all clauses within NEAR characters scores so much more. */
const READ = 12
const NEAR = 70
const PROXIMITY = 1
/** The share of the clauses, by weight, that a good passage has so close together. */
const USUALLY_NEAR = 0.6
/** So much more does the first passage of a resource score, which says what the resource is about. */
const BEGINNING = 0.3
/**
 * A passage scores by its share of the weight of so many clauses on average. By its share of them all it would score less the longer the question is,
 * and meaning, which does not depend on the length, would decide alone.
 */
const FEW_CLAUSES = 2
/** A hit shows passages that score at least this share of the best one. */
const SHOWN = 0.5
/** The share of their score that the second and third best passage add to a resource. */
const SECOND = 0.05
const THIRD = 0.03

/**
 * Finds up to `limit` resources with any of the clauses. Passages are ranked by BM25, their rarer clauses weighing more, and a
 * resource by its best passages: a long one that has each word somewhere is not better than a short one that answers.
 * This is the final order of a lexical search; the others are ordered by rank-by-words-and-meaning.ts.
 */
export function findResources(
  { clauses, excluded }: QueryPlan,
  { postings, readMarks, isShown = () => true }: Searched,
  limit: number,
): FoundResources {
  const weighed = withoutCommonest(weigh(clauses, postings))
  const left = excluded === undefined ? [] : postings.having(excluded, MAX_EXCLUDED)
  const leftOut = new Set(left.map(resourceOf))
  const passages = scoreClauses(weighed, postings).passages(
    (resourceId) => leftOut.has(resourceId) || !isShown(resourceId),
  )
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0)
  const scores = Float64Array.from({ length: passages.count }, (_, index) => scoreOf(index, passages, weighed, total))
  if (weighed.length > 1) raiseNear(passages, scores, weighed, readMarks)
  const runs = runsOf(passages, scores)
  const best = bestOf(
    Float64Array.from(runs, ({ score }) => score),
    limit,
  ).flatMap((index) => runs[index] ?? [])
  const unknown = (clauses.length - weighed.length) * postings.rarity(0)
  const usual = weighed.length > 1 ? 1 + PROXIMITY * USUALLY_NEAR : 1
  const share = Math.min(1, FEW_CLAUSES / clauses.length)
  const possible = (total + unknown) * (1 + COVERAGE) * usual * share
  const hasAll = ({ from, to }: Run) =>
    weighed.every(
      ({ isPart }, clause) => isPart || indexes(from, to).some((index) => passages.score(index, clause) > 0),
    )
  return {
    resources: best.map(({ from, to, best, score }) => {
      const shown = indexes(from, to).filter((index) => at(scores, index) >= SHOWN * at(scores, best))
      return {
        resourceId: passages.resourceId(from),
        ordinals: shown.sort((one, other) => at(scores, other) - at(scores, one)).map(passages.ordinal),
        isWhole: weighed.every(({ isPart }, clause) => isPart || passages.score(best, clause) > 0),
        score: score / possible,
      }
    }),
    matched: weighed.length === clauses.length && runs.some(hasAll) ? 'all' : 'some',
  }
}

/** The rarest first. A clause is as rare as the commonest of its words. */
function weigh(clauses: readonly PlannedClause[], postings: Postings): WeighedClause[] {
  return clauses
    .flatMap((clause, index) => {
      if (clause.expression === undefined) return []
      const count = Math.max(...clause.alternatives.map(postings.count))
      const usual = clause.alternatives.filter((each) => postings.count(each) >= RARE_FORM * count)
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

/** Leaves out the commonest: what many of them have in common with a passage says little, and each takes as long as a rare one. */
function withoutCommonest(clauses: readonly WeighedClause[]): WeighedClause[] {
  let [left, common] = [MAX_SCORED, 0]
  return clauses.filter(({ count }) => {
    if (count <= left) {
      left -= count
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
  let left = MAX_SCORED
  for (const [index, clause] of clauses.entries()) {
    const { alternatives, expression, usual, count, weight } = clause
    if (count <= left) {
      left -= count
      for (const each of alternatives) scores.raise(index, weight * each.weight, postings.scored(each, count))
      rare.push(expression)
    } else {
      common.push([index, clause])
      if (rare.length > 0)
        scores.raiseAll(index, weight, postings.having(`${anyOf(usual)} AND (${rare.join(' OR ')})`, MAX_SCORED))
    }
  }
  // A word that hardly any passage has does not keep the others from being found.
  if (MAX_SCORED - left < FEW) scoreCommon(common, postings, scores)
  return scores
}

/** Scores common clauses: passages that have all of them, and some that have the rarest one. */
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
  raise(postings.having(together('name'), MAX_PASSAGES), PRESENT.name)
  raise(postings.having(together('heading'), MAX_PASSAGES), PRESENT.heading)
  raise(postings.having(together(), MAX_PASSAGES), PRESENT.text)
  const [index, { weight, alternatives }] = first
  for (const each of alternatives.slice(0, 1)) scores.raise(index, weight, postings.scored(each, MAX_PASSAGES))
}

/** Finds passages with any of these, if a column is named only those that have it there. */
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
    sum += Math.max(own, NEIGHBOUR * before, NEIGHBOUR * after)
    if (own > 0) covered += clauses[clause]?.weight ?? 0
  }
  return sum * (1 + (COVERAGE * covered) / total) * (passages.ordinal(index) === 0 ? 1 + BEGINNING : 1)
}

/** Raises the scores of the best passages in which words of several clauses are close together. */
function raiseNear(
  passages: ScoredPassages,
  scores: Float64Array,
  clauses: readonly WeighedClause[],
  readMarks: ReadMarks,
): void {
  const weights = new Map(clauses.map(({ index, weight }) => [index, weight]))
  const total = clauses.reduce((sum, { weight }) => sum + weight, 0)
  for (const index of bestOf(scores, READ)) {
    const marks = readMarks(passages.resourceId(index), passages.ordinal(index))
    scores[index] = at(scores, index) * (1 + (PROXIMITY * mostWithin(NEAR, marks, weights)) / total)
  }
}

/** The greatest weight of clauses that have words within this number of characters. */
function mostWithin(length: number, marks: readonly Mark[], weights: ReadonlyMap<number, number>): number {
  const counts = new Map<number, number>()
  let [sum, most, from] = [0, 0, 0]
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
    most = Math.max(most, sum)
  }
  return most
}

/** The passages of one resource, by their indexes. */
interface Run {
  readonly from: number
  /** After the last one. */
  readonly to: number
  readonly best: number
  readonly score: number
}

function runsOf(passages: ScoredPassages, scores: Float64Array): Run[] {
  const runs: Run[] = []
  for (let from = 0; from < passages.count; ) {
    let [to, best] = [from, from]
    let [first, second, third] = [0, 0, 0]
    for (const resourceId = passages.resourceId(from); to < passages.count; to += 1) {
      if (passages.resourceId(to) !== resourceId) break
      const score = at(scores, to)
      if (score > at(scores, best)) best = to
      if (score > first) [first, second, third] = [score, first, second]
      else if (score > second) [second, third] = [score, second]
      else if (score > third) third = score
    }
    runs.push({ from, to, best, score: first + SECOND * second + THIRD * third })
    from = to
  }
  return runs
}

/** The indexes of the best, of equal ones the first: sorting all would take longer than finding what the least of these scores. */
function bestOf(scores: Float64Array, count: number): number[] {
  const least = scores.toSorted().at(-count) ?? 0
  const found: number[] = []
  for (let index = 0; index < scores.length; index += 1) if (at(scores, index) >= least) found.push(index)
  return found.sort((one, other) => at(scores, other) - at(scores, one)).slice(0, count)
}

function at(scores: Float64Array, index: number): number {
  return scores[index] ?? 0
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
