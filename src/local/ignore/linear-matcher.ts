/** Any number of characters, or one that a test accepts. */
type Token = { readonly kind: 'star' } | { readonly kind: 'one'; readonly accepts: (character: string) => boolean }

type ReadBracket = (bracket: string) => (character: string) => boolean

const ANY_NAMES = '**'

type Part = readonly Token[] | typeof ANY_NAMES

/** If a pattern has more stars, in one part or in several, a regular expression may take exponential time for a long path. */
const MAX_STARS_FOR_REGEX = 2

/** Returns whether a regular expression for the pattern could take exponential time. */
export function isCostly(body: string): boolean {
  return (body.match(/\*+/g) ?? []).length > MAX_STARS_FOR_REGEX
}

/**
 * Returns a matcher for a pattern in gitignore syntax without `!` and trailing spaces, whose time is proportional to pattern times path.
 * It takes the whole path if the pattern has an inner slash, otherwise the name. A directory ends with a slash.
 */
export function createLinearMatcher(body: string, readBracket: ReadBracket): (path: string) => boolean {
  const isForDirectories = /[^\\]\/$/.test(body)
  const parts = readParts(body.replace(/^\//, '').replace(/\/$/, ''), readBracket)
  return (path) => {
    if (!parts || (isForDirectories && !path.endsWith('/'))) return false
    const names = path.replace(/\/$/, '').split('/')
    return matchesParts(
      parts,
      names.map((name) => [...name]),
    )
  }
}

/** Returns whether the parts match all names; `**` matches any number of names, at the end of the pattern at least one. */
function matchesParts(parts: readonly Part[], names: readonly (readonly string[])[]): boolean {
  // reached[i] is true when the parts of the pattern so far match the first i names.
  let reached = [true, ...names.map(() => false)]
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    const next = reached.map(() => false)
    for (const [count, isReached] of reached.entries()) {
      if (part === ANY_NAMES) {
        const before = count > 0 && (reached[count - 1] === true || next[count - 1] === true)
        next[count] = before || (isReached && !isLast)
      } else if (isReached && count < names.length) next[count + 1] = matchesTokens(part, names[count] ?? [])
    }
    reached = next
  }
  return reached[names.length] === true
}

/** Backtracks to the last star only: if that fails, no choice for an earlier star can succeed. */
function matchesTokens(tokens: readonly Token[], characters: readonly string[]): boolean {
  let [token, character] = [0, 0]
  let retry: { readonly token: number; readonly character: number } | undefined
  while (character < characters.length) {
    const wanted = tokens[token]
    if (wanted?.kind === 'star') {
      retry = { token: token + 1, character }
      token += 1
    } else if (wanted?.accepts(characters[character] ?? '')) {
      token += 1
      character += 1
    } else if (retry) {
      retry = { token: retry.token, character: retry.character + 1 }
      token = retry.token
      character = retry.character
    } else return false
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star')
}

/** Returns undefined for a pattern with a bracket that is not closed, which matches nothing. */
function readParts(body: string, readBracket: ReadBracket): Part[] | undefined {
  const characters = [...body]
  const parts: Token[][] = [[]]
  const add = (accepts: (character: string) => boolean) => parts.at(-1)?.push({ kind: 'one', accepts })
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? ''
    if (character === '/') parts.push([])
    else if (character === '*') parts.at(-1)?.push({ kind: 'star' })
    else if (character === '?') add(() => true)
    else if (character === '[') {
      const end = endOfBracket(characters, index)
      if (end === undefined) return undefined
      add(readBracket(characters.slice(index, end + 1).join('')))
      index = end
    } else {
      if (character === '\\') index += 1
      const literal = characters[index]
      add((one) => one === literal)
    }
  }
  return parts.map((tokens) => (isAnyNames(tokens) ? ANY_NAMES : tokens))
}

function isAnyNames(tokens: readonly Token[]): boolean {
  return tokens.length >= 2 && tokens.every(({ kind }) => kind === 'star')
}

/** Returns the index of the closing bracket. A `]` at the beginning is a member, and a class such as `[:alpha:]` has its own brackets. */
function endOfBracket(characters: readonly string[], start: number): number | undefined {
  const first = start + (['!', '^'].includes(characters[start + 1] ?? '') ? 2 : 1)
  for (let index = first; index < characters.length; index += 1) {
    if (characters[index] === ']' && index > first) return index
    if (characters[index] === '\\') index += 1
    else if (characters[index] === '[' && characters[index + 1] === ':') {
      const end = characters.indexOf(']', index + 2)
      if (end === -1) return undefined
      if (characters[end - 1] === ':' && end - 1 > index + 1) index = end
    }
  }
  return undefined
}
