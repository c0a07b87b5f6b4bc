import type { IgnoreDecision } from './ignore-rule.ts'

/** How many bytes from the beginning of a file are searched for secrets. */
export const BEGINNING_BYTES = 65_536

/** A file with a zero byte among this many first bytes is not text, and is not searched. */
const PROBE_BYTES = 512

interface SecretKind {
  readonly name: string
  /** A string that every such secret contains; it is searched first, because that takes a tenth of the pattern's time. */
  readonly mark?: string
  /** A pattern without a `mark` is anchored at the start of the file, where most files fail at once. */
  readonly pattern: RegExp
}

const AWS = /\baws_secret_access_key\b["']?\s*[=:]\s*["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/i

/**
 * Most patterns match the secret itself, the others a file of secrets (PuTTY, .netrc), but none a page that only explains keys. Each line
 * of the text ends with "\n"; lines of a private key may end as in JSON ("\\n"), and may follow headers. No repeated part may match a text
 * in two ways, or a search takes years.
 */
const KINDS: readonly SecretKind[] = [
  {
    name: 'a private key',
    mark: 'PRIVATE KEY',
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])+(?:[\w-]+: [^\n\\]*(?:\n|\\[nr])(?:\s|\\[nr])*){0,20}[A-Za-z0-9+/=]{32}/,
  },
  { name: 'a private key', pattern: /^PuTTY-User-Key-File-\d: [\s\S]*\nPrivate-Lines: \d/ },
  // Three marks, one for each way to write the name.
  { name: 'an AWS key', mark: 'aws_secret_access_key', pattern: AWS },
  { name: 'an AWS key', mark: 'AWS_SECRET_ACCESS_KEY', pattern: AWS },
  { name: 'an AWS key', mark: 'Aws_Secret_Access_Key', pattern: AWS },
  { name: 'an npm token', pattern: /^(?:.*\n){0,5}?\/\/\S+:_authToken\s*=\s*["']?[\w~.+/=-]{20}/ },
  {
    name: 'a Kubernetes key',
    pattern: /^(?:\s|---|#.*\n)*apiVersion:[\s\S]*\n[ \t]*client-key-data: *["']?[A-Za-z0-9+/=]{64}/,
  },
  { name: 'a Docker password', pattern: /^\s*\{\s*"auths"\s*:\s*\{[\s\S]*?"auth"\s*:\s*"[A-Za-z0-9+/=]{8,}"/ },
  { name: 'a .netrc password', pattern: /^\s*(?:#.*\n\s*)*machine\s+\S+\s+login\s+\S+\s+password\s/ },
  { name: 'a git password', pattern: /^(?:https?:\/\/[^\s:@/]+:[^\s@/]+@[^\s@]+\s*\n)+$/ },
  {
    name: 'a PostgreSQL password',
    pattern:
      /^(?:#.*\n)*[^:\s#][^:\s]*:(?:5432|6432|\*):[^:\s]+:[^:\s]+:[^:\s]+\n(?:#.*\n|[^:\s#][^:\s]*:(?:\d+|\*):[^:\s]+:[^:\s]+:\S+\n)*$/,
  },
]

/** Returns the decision to ignore a file with this beginning; undefined if it holds no secret of a known kind. */
export function findSecret(beginning: Uint8Array): IgnoreDecision | undefined {
  if (beginning.subarray(0, PROBE_BYTES).includes(0)) return undefined
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, Math.min(beginning.length, BEGINNING_BYTES))
  // latin1 maps each byte to one character, and is the fastest to decode and search. Windows editors write a byte order mark and "\r\n".
  const decoded = bytes.toString('latin1').replace(/^\xEF\xBB\xBF/, '')
  // Each copy, and a pattern that finds no "\r", would take longer than the search.
  const lines = decoded.endsWith('\n') ? decoded : `${decoded}\n`
  const text = lines.includes('\r') ? lines.replace(/\r\n?/g, '\n') : lines
  const found = KINDS.find(({ mark, pattern }) => (mark === undefined || text.includes(mark)) && pattern.test(text))
  return found && { pattern: found.name, source: 'content', line: null, secret: true }
}
