import type { Mark } from './match-words.ts'
import type { PlannedClause, QueryPlan } from './plan-query.ts'
import type { PassageRow, Postings } from './postings.ts'

/** A resource with its matching passages, the best first. */
export interface FoundResource {
  readonly resourceId: number
  readonly ordinals: readonly number[]
  /** True if its best passage has all the terms that are known. */
  readonly isWhole: boolean
  /** About 1 if a passage has each term of the query once, known or not. */
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

/** A clause that some passage has. */
interface WeighedClause extends PlannedClause {
  /** Its index in the plan. */
  readonly index: number
  readonly expression: string
  /** The number of passages that have it. */
  readonly count: number
  /** The rarer, the greater. */
  readonly weight: number
}

/** What each clause scores in a passage, by the passage's ordinal. */
type PassageScores = Map<number, number[]>

/** A search scores about this number of passages one by one; commoner words count only where they meet rarer ones. */
const MAX_SCORED = 2_000
/** If fewer passages have the rarer words, common ones are looked for alone, too. */
const FEW = 500
/** Of the passages of a common word, this number is looked at. */
const MAX_PASSAGES = 1_000
const MAX_EXCLUDED = 100_000
/** What a common word scores, about as much as one that BM25 finds once or twice in a passage of the usual length. */
const PRESENT = { 'name : ': 1.8, 'heading : ': 1.4, '': 1 }
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
/** A hit shows passages that score at least this share of the best one. */
const SHOWN = 0.5
/** The share of their score that the best three passages add to a resource. */
const SHARES = [1, 0.05, 0.03]

/**
 * Finds up to `limit` resources with any of the clauses. Passages are ranked by BM25, their rarer clauses weighing more, and a
 * resource by its best passages: a long one that has each word somewhere is not better than a short one that answers.
 */
export function findResources(
  { clauses, excluded }: QueryPlan,
  postings: Postings,
  readMarks: ReadMarks,
  limit: number,
): FoundResources {
  const weighed = weigh(clauses, postings)
  const scores = scoreClauses(weighed, postings)
  if (excluded !== undefined) {
    for (const [resourceId] of postings.having(excluded, MAX_EXCLUDED)) scores.delete(resourceId)
  }
  const hasAll = (passages: PassageScores) =>
    weighed.every((_, clause) => [...passages.values()].some((each) => each[clause]))
  const isComplete = weighed.length === clauses.length
  const unknown = (clauses.length - weighed.length) * postings.rarity(0)
  return {
    resources: rank(weighed, scores, unknown, readMarks).slice(0, limit),
    matched: isComplete && [...scores.values()].some(hasAll) ? 'all' : 'some',
  }
}

/** The rarest first. A clause is as rare as the commonest of its words. */
function weigh(clauses: readonly PlannedClause[], postings: Postings): WeighedClause[] {
  return clauses
    .flatMap((clause, index) => {
      if (clause.expression === undefined) return []
      const count = Math.max(...clause.alternatives.map(postings.count))
      return [{ ...clause, index, expression: clause.expression, count, weight: postings.rarity(count) }]
    })
    .sort((one, other) => one.count - other.count)
}

type AddScores = (clause: number, weight: number, rows: readonly PassageRow[]) => void

function scoreClauses(clauses: readonly WeighedClause[], postings: Postings): Map<number, PassageScores> {
  const scores = new Map<number, PassageScores>()
  const add: AddScores = (clause, weight, rows) => {
    for (const [resourceId, ordinal, score] of rows) {
      const passages = scores.get(resourceId) ?? new Map<number, number[]>()
      const passage = passages.get(ordinal) ?? clauses.map(() => 0)
      // Of the words of a clause, the best counts.
      passage[clause] = Math.max(passage[clause] ?? 0, weight * score)
      scores.set(resourceId, passages.set(ordinal, passage))
    }
  }
  const rare: string[] = []
  const common: (readonly [index: number, clause: WeighedClause])[] = []
  let left = MAX_SCORED
  for (const [index, clause] of clauses.entries()) {
    const { alternatives, expression, count, weight } = clause
    if (count <= left) {
      left -= count
      for (const each of alternatives) add(index, weight * each.weight, postings.scored(each, count))
      rare.push(expression)
    } else {
      common.push([index, clause])
      if (rare.length > 0) add(index, weight, postings.having(`${expression} AND (${rare.join(' OR ')})`, MAX_SCORED))
    }
  }
  // A word that hardly any passage has does not keep the others from being found.
  if (MAX_SCORED - left < FEW) scoreCommon(common, postings, add)
  return scores
}

/** Scores common clauses: passages that have all of them, and some that have the rarest one. */
function scoreCommon(
  clauses: readonly (readonly [index: number, clause: WeighedClause])[],
  postings: Postings,
  add: AddScores,
): void {
  const [first] = clauses
  if (!first) return
  const together = clauses.map(([, { expression }]) => expression).join(' AND ')
  for (const [column, score] of Object.entries(PRESENT)) {
    const rows = postings.having(`${column}(${together})`, MAX_PASSAGES)
    for (const [index, { weight }] of clauses) add(index, weight * score, rows)
  }
  const [index, { weight, alternatives }] = first
  for (const each of alternatives.slice(0, 1)) add(index, weight, postings.scored(each, MAX_PASSAGES))
}

interface ScoredPassage {
  readonly resourceId: number
  readonly ordinal: number
  readonly score: number
}

const byScore = (one: { score: number }, other: { score: number }) => other.score - one.score

/** The best first, the passages of each as well. */
function rank(
  clauses: readonly WeighedClause[],
  scores: ReadonlyMap<number, PassageScores>,
  unknown: number,
  readMarks: ReadMarks,
): FoundResource[] {
  const total = clauses.reduce((sum, { weight }) => sum + weight, 0)
  const usual = clauses.length > 1 ? 1 + PROXIMITY * USUALLY_NEAR : 1
  const possible = (total + unknown) * (1 + COVERAGE) * usual
  const scored = [...scores]
    .flatMap(([resourceId, passages]) =>
      [...passages.keys()].map((ordinal) => ({
        resourceId,
        ordinal,
        score: passageScore(ordinal, passages, clauses, total),
      })),
    )
    .sort(byScore)
  const passages = [...raiseNear(scored.slice(0, READ), clauses, total, readMarks), ...scored.slice(READ)].sort(byScore)
  const ranked = [...Map.groupBy(passages, ({ resourceId }) => resourceId)].map(([resourceId, found]) => {
    const score = SHARES.reduce((sum, share, index) => sum + share * (found[index]?.score ?? 0), 0)
    const [{ ordinal, score: best } = { ordinal: 0, score: 0 }] = found
    const isWhole =
      scores
        .get(resourceId)
        ?.get(ordinal)
        ?.every((each) => each > 0) ?? false
    const ordinals = found.filter((each) => each.score >= SHOWN * best).map((each) => each.ordinal)
    return { resourceId, ordinals, isWhole, score: score / possible }
  })
  return ranked.sort((one, other) => byScore(one, other) || one.resourceId - other.resourceId)
}

/** Raises the scores of passages in which words of several clauses are close together. */
function raiseNear(
  passages: readonly ScoredPassage[],
  clauses: readonly WeighedClause[],
  total: number,
  readMarks: ReadMarks,
): readonly ScoredPassage[] {
  if (clauses.length < 2) return passages
  const weights = new Map(clauses.map(({ index, weight }) => [index, weight]))
  return passages.map((passage) => {
    const near = mostWithin(NEAR, readMarks(passage.resourceId, passage.ordinal), weights) / total
    return { ...passage, score: passage.score * (1 + PROXIMITY * near) }
  })
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

function passageScore(
  ordinal: number,
  passages: PassageScores,
  clauses: readonly WeighedClause[],
  total: number,
): number {
  const [own, before, after] = [ordinal, ordinal - 1, ordinal + 1].map((each) => passages.get(each))
  let [sum, covered] = [0, 0]
  for (const [clause, { weight }] of clauses.entries()) {
    const score = own?.[clause] ?? 0
    sum += Math.max(score, NEIGHBOUR * (before?.[clause] ?? 0), NEIGHBOUR * (after?.[clause] ?? 0))
    if (score > 0) covered += weight
  }
  return sum * (1 + (COVERAGE * covered) / total) * (ordinal === 0 ? 1 + BEGINNING : 1)
}
