import { z } from 'zod'
import { FIELD_NAME } from '../../contract/identifier.ts'
import { normalizeLibraryPath } from '../../contract/library-path.ts'
import { loadNodeCron } from '../../daemon/schedule/cron-times.ts'
import { isLoopback } from '../../foundation/network/loopback.ts'
import { type Bounds, describeBounds, isWithin } from '../../foundation/text/bounds.ts'
import { MAX_DURATION_TEXT, MAX_SIZE_TEXT, parseDuration, parseSize } from '../../foundation/text/units.ts'
import { flawOf } from '../../local/ignore/selection.ts'
import { parseBandwidth } from '../../rules/bandwidth.ts'
import { LIMIT_BOUNDS } from '../../rules/limits.ts'

/** Schemas of single values. Numbers and switches may be strings, because flags, variables and expanded `${VAR}`s are. */

const SIZE = `a size such as 500K, 50MB or 2GB, up to ${MAX_SIZE_TEXT}`
const DURATIONS = `such as 500ms, 30s, 5m or 1h30m, up to ${MAX_DURATION_TEXT}`
const CRON = 'a cron expression of five fields, such as "0 2 * * *"'
const ORIGIN = 'an origin such as https://library.example.com'
const DATABASE = 'postgres://shelfd@db.example.com/shelfd'
const INVALID: unique symbol = Symbol('invalid')
type Parsed<Out> = Out | typeof INVALID

export const text = z.string('a text').min(1, 'a text that is not empty')
export const path = z.string('a path').min(1, 'a path')

const FIELD = 'the name of a field: a letter or _, then letters, digits, _ and -'
export const field = z.string(FIELD).regex(FIELD_NAME, FIELD)

export function count(bounds: Bounds) {
  return fromScalar(describeBounds(bounds), (value) => readCount(value, bounds))
}

export function countOrNone(bounds: Bounds) {
  return fromScalar(`${describeBounds(bounds)}, or none`, (value) =>
    value === 'none' ? null : readCount(value, bounds),
  )
}

export function rate(bounds: Bounds) {
  return fromScalar(`${describeBounds(bounds)}, or 0 for no fixed limit`, (value) => {
    const number = value === '' ? Number.NaN : Number(value)
    return number === 0 || isWithin(number, bounds) ? number : INVALID
  })
}

export function bandwidth() {
  const expected = `${SIZE}, or a timetable such as "08:00,512K 18:00,off"`
  return fromScalar(expected, (value) => parseBandwidth(String(value)) ?? INVALID)
}

export function sizeOrNone() {
  return fromScalar(`${SIZE}, or none`, (value) => (value === 'none' ? null : readSize(value)))
}

/** Accepts a duration and gives milliseconds. */
export function duration() {
  return fromText(`a duration ${DURATIONS}`, (value) => parseDuration(value) ?? INVALID)
}

/** Accepts a duration within these bounds and gives milliseconds. */
export function durationWithin(atLeast: string, atMost: string) {
  const [least = 0, most = 0] = [parseDuration(atLeast), parseDuration(atMost)]
  return fromText(`a duration from ${atLeast} to ${atMost}`, (value) => {
    const parsed = parseDuration(value)
    return parsed !== undefined && parsed >= least && parsed <= most ? parsed : INVALID
  })
}

export function positiveDuration() {
  return fromText(`a duration above 0, ${DURATIONS}`, readPositiveDuration)
}

/** Accepts a duration and gives milliseconds, or `none` and gives null. */
export function durationOrNone() {
  return fromText(`a duration such as 12h or 30d, up to ${MAX_DURATION_TEXT}, or none`, (value) =>
    value === 'none' ? null : readPositiveDuration(value),
  )
}

export function flag() {
  const expected = 'true or false'
  return checked(
    z.union([z.boolean(), z.enum(['true', 'false'])], expected),
    expected,
    (value) => String(value) === 'true',
  )
}

export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, values.length === 1 ? values[0] : `one of ${values.join(', ')}`)
}

export function cron() {
  return z.string(CRON).transform((value, context): string => {
    const flaw = findCronFlaw(value)
    if (flaw === undefined) return value.trim().split(/\s+/).join(' ')
    context.issues.push({ code: 'custom', message: `${CRON}${flaw}`, input: value })
    return z.NEVER
  })
}

export function timeZone() {
  return fromText('a time zone such as Europe/Berlin or UTC', (value) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone
    } catch {
      return INVALID
    }
  })
}

export function listenAddress<Word extends string>(example: string, ...words: readonly Word[]) {
  return fromText(`${words.join(', ')} or a loopback address such as ${example}`, (value) => {
    const word = words.find((each) => each === value)
    if (word !== undefined) return word
    const [, host = '', port = ''] = /^(.+):(0|[1-9]\d*)$/.exec(value) ?? []
    // Compares the host only, because URL drops port 80, the default of http.
    const isAddress = URL.canParse(`http://${value}`) && new URL(`http://${value}`).hostname === host
    return isAddress && isLoopback(host) ? { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } : INVALID
  })
}

export function includePattern() {
  return z.string('a pattern').superRefine((value, context) => {
    const flaw = flawOf(value)
    if (flaw !== undefined) context.addIssue({ code: 'custom', message: flaw })
  })
}

export function libraryPath() {
  return fromText('a library path such as /Papers', (value) => normalizeLibraryPath(value) ?? INVALID)
}

/** Accepts an https origin, or an http origin with a loopback address. The message never shows the value. */
export function origin() {
  return z.string(ORIGIN).transform((value, context): string => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    const flaw = findOriginFlaw(url)
    if (url && flaw === undefined) return url.origin
    context.issues.push({ code: 'custom', message: `${ORIGIN} (${flaw})`, input: undefined })
    return z.NEVER
  })
}

export function webAddress() {
  const expected =
    'an address such as http://localhost:11434/v1: no user or query, and https unless the host is loopback'
  return fromText(expected, (value) => {
    const url = URL.parse(value)
    if (!url) return INVALID
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
    const hasMore = [url.username, url.password, url.search, url.hash].some((part) => part !== '')
    return isSafe && !hasMore ? url.href.replace(/\/$/, '') : INVALID
  })
}

/** Accepts a URL that may be secret; the message never shows it. */
export function secretAddress() {
  const expected = 'an address that begins with https://, or with http:// for this computer, without user and #'
  return z.string(expected).transform((value, context): string => {
    const url = URL.parse(value)
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
    if (url && isSafe && `${url.username}${url.password}${url.hash}` === '') return url.href
    context.issues.push({ code: 'custom', message: expected, input: undefined })
    return z.NEVER
  })
}

/** Accepts `postgres://USER@HOST:PORT/DATABASE`; HOST may be the directory of a socket. The message never shows a password. */
export function databaseAddress() {
  const expected = `an address such as ${DATABASE}, without a password (passwordFile and passwordCommand name that)`
  return z.string(expected).transform((value, context) => {
    const url = /^postgres(?:ql)?:$/.test(URL.parse(value)?.protocol ?? '') ? URL.parse(value) : null
    const [user, host, database] = [url?.username, url?.hostname, url?.pathname.slice(1)].map(decode)
    const isPlain = url !== null && `${url.password}${url.search}${url.hash}` === '' && !database?.includes('/')
    if (isPlain && user && host && database) {
      return { user, database, host: host.replace(/^\[|\]$/g, ''), port: Number(url.port || 5432) }
    }
    context.issues.push({ code: 'custom', message: expected, input: undefined })
    return z.NEVER
  })
}

/** Decodes a part of a URL; returns undefined for an invalid escape. */
function decode(part: string | undefined): string | undefined {
  try {
    return part && decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function checked<Kind extends z.ZodType, Out>(
  kind: Kind,
  expected: string,
  parse: (value: z.infer<Kind>) => Parsed<Out>,
) {
  return kind.transform((value, context): Out => {
    const result = parse(value)
    if (result !== INVALID) return result
    context.issues.push({ code: 'custom', message: expected, input: value })
    return z.NEVER
  })
}

function fromText<Out>(expected: string, parse: (value: string) => Parsed<Out>) {
  return checked(z.string(expected), expected, parse)
}

function fromScalar<Out>(expected: string, parse: (value: string | number) => Parsed<Out>) {
  return checked(z.union([z.number(), z.string()], expected), expected, parse)
}

function readCount(value: string | number, bounds: Bounds): Parsed<number> {
  const number = typeof value === 'string' && !/^\d{1,16}$/.test(value) ? Number.NaN : Number(value)
  return isWithin(number, bounds) ? number : INVALID
}

function readSize(value: string | number): Parsed<number> {
  if (typeof value === 'string') return parseSize(value) ?? INVALID
  return readCount(value, LIMIT_BOUNDS.sizeBytes)
}

function readPositiveDuration(value: string): Parsed<number> {
  return parseDuration(value) || INVALID
}

function findOriginFlaw(url: URL | undefined): string | undefined {
  if (!url || !['https:', 'http:'].includes(url.protocol)) return 'it does not begin with https://'
  if (url.username || url.password) return 'it names a user'
  if (url.search || url.hash || url.pathname !== '/') return 'it has a path'
  const isSafe = url.protocol === 'https:' || isLoopback(url.hostname)
  return isSafe ? undefined : 'it is http, which only a loopback host may use'
}

const FIELDS: Readonly<Record<string, string>> = {
  minute: 'minute',
  hour: 'hour',
  dayOfMonth: 'day of the month',
  month: 'month',
  dayOfWeek: 'day of the week',
}

/** Returns the end of a message; undefined for a valid expression. Seconds and names such as @daily are rejected. */
function findCronFlaw(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5) return ''
  const [error] = loadNodeCron().validateDetailed(fields.join(' ')).errors
  if (!error) return undefined
  const field = FIELDS[error.field]
  return field === undefined ? '' : ` (its ${field} cannot be ${JSON.stringify(error.value)})`
}
