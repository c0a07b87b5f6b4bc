import type { IgnoreDecision } from './ignore-rule.ts'

export const BEGINNING_BYTES = 65_536

/** Text has no zero bytes; what has one among these is not looked at further. */
const PROBE_BYTES = 512

interface SecretKind {
  readonly name: string
  /** What every such secret holds, which is searched before the pattern, since that takes a tenth of its time. */
  readonly mark?: string
  /** Without a mark it begins at the beginning of the file, where most files do not match. */
  readonly pattern: RegExp
}

const AWS = /\baws_secret_access_key\b["']?\s*[=:]\s*["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/i

/**
 * Each pattern asks for the secret itself, so that a page that explains keys is not taken for one. In a private key, lines may end as in JSON
 * ("\\n"), and headers may precede the key.
 */
const KINDS: readonly SecretKind[] = [
  {
    name: 'a private key',
    mark: 'PRIVATE KEY',
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])+(?:[\w-]+: [^\n\\]*(?:\s|\\[nr])+)*[A-Za-z0-9+/=]{32}/,
  },
  { name: 'a private key', pattern: /^PuTTY-User-Key-File-\d: [\s\S]*\nPrivate-Lines: \d/ },
  { name: 'a key of AWS', mark: 'aws_secret_access_key', pattern: AWS },
  { name: 'a key of AWS', mark: 'AWS_SECRET_ACCESS_KEY', pattern: AWS },
  { name: 'a token of npm', pattern: /^(?:.*\n){0,5}?\/\/\S+:_authToken\s*=\s*["']?[\w~.+/=-]{20}/ },
  {
    name: 'a key of Kubernetes',
    pattern: /^(?:\s|---|#.*\n)*apiVersion:[\s\S]*\n\s*client-key-data: *["']?[A-Za-z0-9+/=]{64}/,
  },
  { name: 'a password of Docker', pattern: /^\s*\{\s*"auths"\s*:\s*\{[\s\S]*?"auth"\s*:\s*"[A-Za-z0-9+/=]{8,}"/ },
  { name: 'a password of .netrc', pattern: /^\s*(?:#.*\n\s*)*machine\s+\S+\s+login\s+\S+\s+password\s/ },
  { name: 'a password of git', pattern: /^(?:https?:\/\/[^\s:@/]+:[^\s@/]+@[^\s@]+\s*\n)+$/ },
  {
    name: 'a password of PostgreSQL',
    pattern:
      /^(?:#.*\n)*[^:\s]+:(?:5432|6432|\*):[^:\s]+:[^:\s]+:[^:\s]+\n(?:#.*\n|[^:\s]+:(?:\d+|\*):[^:\s]+:[^:\s]+:\S+\n)*$/,
  },
]

/** Returns why a file with this beginning is left out; undefined if it holds no secret of a known kind. */
export function findSecret(beginning: Uint8Array): IgnoreDecision | undefined {
  if (beginning.subarray(0, PROBE_BYTES).includes(0)) return undefined
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, Math.min(beginning.length, BEGINNING_BYTES))
  // One character for each byte: it is decoded and searched fastest.
  const text = bytes.toString('latin1')
  const found = KINDS.find(({ mark, pattern }) => (mark === undefined || text.includes(mark)) && pattern.test(text))
  return found && { pattern: found.name, source: 'content', line: null, secret: true }
}
