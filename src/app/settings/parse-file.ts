import { isMap, isScalar, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { UsageError } from '../../foundation/errors.ts'
import type { Environment } from './overrides.ts'
import { isMapping, type Raw } from './raw-settings.ts'

export interface ConfigFile {
  readonly raw: Raw
  /** `FILE:LINE` of the key at `path`, or of its nearest existing parent. */
  locationOf(path: readonly PropertyKey[]): string
}

type YamlDocument = ReturnType<typeof parseDocument>

/** Parses the file and expands its variables; throws UsageError('bad-configuration') with file and line. */
export function parseConfigFile(file: string, source: string, env: Environment): ConfigFile {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const locate = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const broken = document.errors[0]
  if (broken) {
    // The parser reports an unclosed value after the last line.
    const { line } = lines.linePos(Math.min(broken.pos[0], source.trimEnd().length))
    throw bad(`${file}:${line}: ${describeYamlError(broken.code, line)}`)
  }
  refuseUnresolved(document, locate)
  expandScalars(document, env, locate)
  const content = toValues(document, locate)
  if (content !== undefined && !isMapping(content)) throw bad(`${locate(0)}: expected keys and values`)
  return { raw: content ?? {}, locationOf: (path) => locate(offsetOf(document, path)) }
}

function bad(message: string): UsageError {
  return new UsageError('bad-configuration', `Cannot read the configuration: ${message}`)
}

/** Reports unquoted patterns such as `*.tmp`, which YAML reads as references to values that do not exist. */
function refuseUnresolved(document: YamlDocument, locate: (offset: number) => string): void {
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document) === undefined)
        throw bad(`${locate(node.range?.[0] ?? 0)}: not valid YAML: ${BAD_STAR}`)
    },
  })
}

/** Throws UsageError for values that contain themselves, or whose references multiply beyond a limit. */
function toValues(document: YamlDocument, locate: (offset: number) => string): unknown {
  try {
    return withoutNulls(document.toJS({ maxAliasCount: 100 }))
  } catch {
    throw bad(`${locate(0)}: ${describeYamlError(undefined, 1)}`)
  }
}

function expandScalars(document: YamlDocument, env: Environment, locate: (offset: number) => string): void {
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return
      node.value = expandVariables(node.value, env, (name) => {
        const advice = `set it, or write \${${name}:-default}`
        throw bad(`${locate(node.range?.[0] ?? 0)}: the variable ${name} is not set; ${advice}`)
      })
    },
  })
}

/** Removes keys without a value (`ignore:`). */
function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMapping(value)) return value
  const present = Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]]))
  return Object.fromEntries(present)
}

function offsetOf(document: YamlDocument, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown = document.getIn(path.slice(0, length - 1), true)
    const key = path[length - 1]
    const pair = isMap(parent) ? parent.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined
    const node: unknown = isScalar(pair?.key) ? pair.key : document.getIn(path.slice(0, length), true)
    const offset = startOf(node)
    if (offset !== undefined) return offset
  }
  return startOf(document.contents) ?? 0
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined
  const [start]: unknown[] = node.range
  return typeof start === 'number' ? start : undefined
}

/** Replaces `${NAME}` and `${NAME:-default}`; `$${` becomes a literal `${`. `onUnset` gets the names of variables without a value. */
function expandVariables(text: string, env: Environment, onUnset: (name: string) => void): string {
  return text.replace(
    /\$(\$\{)|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g,
    (_, escaped?: string, name = '', fallback?: string) => {
      if (escaped) return escaped
      const value = fallback === undefined ? env[name] : env[name] || fallback
      if (value === undefined) onUnset(name)
      return value ?? ''
    },
  )
}

/** The message for a value that begins with `*`, which YAML reads as a reference to another value. */
const BAD_STAR = 'a value that begins with "*" must stand in quotes'

/** The usual mistake behind each error code of the parser, for people who do not know the terms of YAML. */
const MISTAKES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: BAD_STAR,
  BAD_DQ_ESCAPE: 'within double quotes each "\\" must stand twice; within single quotes once',
  BAD_INDENT: 'a "{" or "[" is not closed, or lines that belong together do not begin in the same column',
  BAD_SCALAR_START: 'a value that begins with "@", "%" or "`" must stand in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value with ": " in it must stand in quotes, or a line is indented too far',
  BLOCK_IN_FLOW: 'a "," is missing between "{" and "}" or between "[" and "]"',
  DUPLICATE_KEY: 'the same key appears here twice',
  MISSING_CHAR: 'a quote is not closed, or a ":", a "," or a blank is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be followed by ": ", on the same line',
  MULTIPLE_DOCS: 'the file must be one document: remove the line "---"',
  TAB_AS_INDENT: 'lines must be indented with blanks, not with tabs',
  UNEXPECTED_TOKEN:
    'something does not belong here, such as a bracket that was never opened or text after a closing quote',
}

function describeYamlError(code: YAMLError['code'] | undefined, line: number): string {
  const words = code && MISTAKES[code]
  return words === undefined ? `not valid YAML near line ${line}` : `not valid YAML: ${words}`
}
