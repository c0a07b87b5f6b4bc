import type { Database } from 'better-sqlite3'
import { libraryWord } from '../database/passages.ts'
import { expressionOf } from './alternatives.ts'
import type { PlannedClause, QueryPlan } from './plan-query.ts'

/** A resource with its matching passages, the best first. */
export interface FoundResource {
  readonly resourceId: number
  readonly ordinals: readonly number[]
}

export interface FoundResources {
  readonly resources: readonly FoundResource[]
  /** `all` if the first of them have all terms, `some` if they have only some of them. */
  readonly matched: 'all' | 'some'
}

type ScoredRow = [resourceId: number, ordinal: number, score: number]

/** One resource while it is scored: its passages with their scores, and the best score of each clause. */
interface Candidate {
  readonly passages: [ordinal: number, score: number][]
  readonly clauseScores: Map<number, number>
}

// Names and headings weigh more than text, forms of a word less than the word itself.
const COLUMN_WEIGHTS = '1, 0.7, 3, 8, 0'
/** A search scores at most this number of passages of each kind, so that common words take no longer than others. */
const MAX_PASSAGES = 1_000
/** The greatest `limit` of the interface. */
const MAX_RANKED = 100
const MAX_EXCLUDED = 100_000
/** The clauses may be this number of words apart in the passages that are scored first when there are too many. */
const NEAR = 8
/** The share of their score that the second and the third best passage add to a resource. */
const FURTHER_PASSAGES = [1, 0.2, 0.1]

/**
 * Finds up to `limit` resources of these libraries (all when undefined): first those that have all clauses in one passage, then
 * those that have them in several, then those that have some; each group by BM25, the rarer words weighing more.
 */
export function findResources(
  database: Database,
  { clauses, excluded }: QueryPlan,
  libraryIds: readonly number[] | undefined,
  limit: number,
): FoundResources {
  const expressions = clauses.map(({ expression }) => expression)
  const known = expressions.flatMap((expression) => expression ?? [])
  if (known.length === 0 || libraryIds?.length === 0) return { resources: [], matched: 'all' }
  const within = withinLibraries(libraryIds)
  const shunned = excluded === undefined ? undefined : resourcesWith(database, within + excluded)
  const isComplete = known.length === expressions.length
  const together = isComplete ? scoreTogether(database, within, clauses, known) : new Map<number, Candidate>()
  for (const id of shunned ?? []) together.delete(id)
  const best = rank(together, passageScore)
  if (best.length >= limit || (isComplete && known.length === 1))
    return { resources: best.slice(0, limit), matched: 'all' }
  const apart = scoreApart(database, within, known)
  for (const id of [...(shunned ?? []), ...together.keys()]) apart.delete(id)
  const hasAll = ({ clauseScores }: Candidate) => isComplete && clauseScores.size === known.length
  const whole = rank(new Map([...apart].filter(([, candidate]) => hasAll(candidate))), clauseScore)
  const partial = rank(new Map([...apart].filter(([, candidate]) => !hasAll(candidate))), clauseScore)
  return {
    resources: [...best, ...whole, ...partial].slice(0, limit),
    matched: best.length + whole.length > 0 ? 'all' : 'some',
  }
}

function withinLibraries(libraryIds: readonly number[] | undefined): string {
  if (libraryIds === undefined) return ''
  return `library : (${libraryIds.map((id) => `"${libraryWord(id)}"`).join(' OR ')}) AND `
}

const SCORED = `SELECT resource_id, ordinal, -bm25(passage_words, ${COLUMN_WEIGHTS})
  FROM passage_words JOIN passage ON passage.id = passage_words.rowid WHERE passage_words MATCH ? LIMIT ?`

function scoreTogether(
  database: Database,
  within: string,
  clauses: readonly PlannedClause[],
  expressions: readonly string[],
): Map<number, Candidate> {
  const all = expressions.join(' AND ')
  const rows = scoreRows(database, within + all)
  if (rows.length < MAX_PASSAGES) return gather(rows)
  // Of more passages than are scored, those come first whose names or headings have the words, or that have them near each other.
  const preferred = [`name : (${all})`, `heading : (${all})`, ...(clauses.length > 1 ? [nearEachOther(clauses)] : [])]
  return gather([...preferred.flatMap((expression) => scoreRows(database, within + expression)), ...rows])
}

function nearEachOther(clauses: readonly PlannedClause[]): string {
  const written = clauses.flatMap(({ alternatives: [first] }) => (first ? expressionOf(first) : []))
  return `NEAR(${written.join(' ')}, ${NEAR})`
}

function scoreApart(database: Database, within: string, expressions: readonly string[]): Map<number, Candidate> {
  const candidates = new Map<number, Candidate>()
  for (const [clause, expression] of expressions.entries()) {
    for (const row of scoreRows(database, within + expression)) addPassage(candidates, row, clause)
  }
  return candidates
}

function scoreRows(database: Database, expression: string): ScoredRow[] {
  return database.prepare<[string, number], ScoredRow>(SCORED).raw().all(expression, MAX_PASSAGES)
}

/** Each row once. */
function gather(rows: readonly ScoredRow[]): Map<number, Candidate> {
  const candidates = new Map<number, Candidate>()
  for (const row of rows) {
    const [resourceId, ordinal] = row
    const isKnown = candidates.get(resourceId)?.passages.some(([each]) => each === ordinal)
    if (!isKnown) addPassage(candidates, row, undefined)
  }
  return candidates
}

function addPassage(
  candidates: Map<number, Candidate>,
  [resourceId, ordinal, score]: ScoredRow,
  clause: number | undefined,
): void {
  let candidate = candidates.get(resourceId)
  if (!candidate) {
    candidate = { passages: [], clauseScores: new Map() }
    candidates.set(resourceId, candidate)
  }
  const { passages, clauseScores } = candidate
  if (clause !== undefined) clauseScores.set(clause, Math.max(clauseScores.get(clause) ?? 0, score))
  const known = clause === undefined ? undefined : passages.find(([each]) => each === ordinal)
  if (known) known[1] += score
  else passages.push([ordinal, score])
}

function rank(candidates: ReadonlyMap<number, Candidate>, scoreOf: (candidate: Candidate) => number): FoundResource[] {
  const ranked: { resourceId: number; candidate: Candidate; score: number }[] = []
  for (const [resourceId, candidate] of candidates) {
    candidate.passages.sort(([, one], [, other]) => other - one)
    ranked.push({ resourceId, candidate, score: scoreOf(candidate) })
  }
  return ranked
    .sort((one, other) => other.score - one.score || one.resourceId - other.resourceId)
    .slice(0, MAX_RANKED)
    .map(({ resourceId, candidate }) => ({ resourceId, ordinals: candidate.passages.map(([ordinal]) => ordinal) }))
}

/** Passages are sorted. */
function passageScore({ passages }: Candidate): number {
  return FURTHER_PASSAGES.reduce((sum, weight, index) => sum + weight * (passages[index]?.[1] ?? 0), 0)
}

/** The best passages count a little, so that of two resources with the same clauses the one wins that has them close together. */
function clauseScore(candidate: Candidate): number {
  const sum = [...candidate.clauseScores.values()].reduce((total, score) => total + score, 0)
  return sum + 0.2 * passageScore(candidate)
}

function resourcesWith(database: Database, expression: string): Set<number> {
  const select = database.prepare<[string, number], number>(
    `SELECT resource_id FROM passage_words JOIN passage ON passage.id = passage_words.rowid
     WHERE passage_words MATCH ? LIMIT ?`,
  )
  return new Set(select.pluck().all(expression, MAX_EXCLUDED))
}
