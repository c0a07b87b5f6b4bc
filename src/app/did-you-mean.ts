/** Returns the candidate that a mistyped word probably means; undefined when none is similar enough. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const completions = candidates.filter((candidate) => word !== '' && candidate.startsWith(word))
  if (completions.length > 0) return completions.toSorted((left, right) => left.length - right.length)[0]
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
  const best = ranked[0]
  return best && best.distance <= Math.max(2, Math.floor(word.length / 2)) ? best.candidate : undefined
}

/** Returns ` (did you mean "transfers"?)`, or an empty string if no candidate is similar. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(word, candidates)
  return near === undefined ? '' : ` (did you mean "${prefix}${near}"?)`
}

/** Returns how many insertions, deletions and replacements turn `from` into `to` (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] ?? 0) + (letter === to[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
