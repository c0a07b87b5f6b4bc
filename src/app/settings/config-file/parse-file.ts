import { isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { UsageError } from '../../../foundation/errors.ts'
import type { Environment } from '../overrides.ts'
import { isMapping, type Raw } from '../raw-settings.ts'
import { expandVariables } from './expand-variables.ts'
import { BAD_STAR, describeYamlError } from './yaml-words.ts'

export interface ConfigFile {
  readonly raw: Raw
  /** `FILE:LINE` of the key at `path`, or of its nearest existing parent. */
  place(path: readonly PropertyKey[]): string
}

type YamlDocument = ReturnType<typeof parseDocument>

/** Parses the file and expands its variables; throws UsageError('bad-configuration') with file and line. */
export function parseConfigFile(file: string, source: string, env: Environment): ConfigFile {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const placeOf = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const broken = document.errors[0]
  if (broken) {
    // The parser reports an unclosed value at the end of the text, behind the last line.
    const { line } = lines.linePos(Math.min(broken.pos[0], source.trimEnd().length))
    throw bad(`${file}:${line}: ${describeYamlError(broken.code, line)}`)
  }
  refuseUnresolved(document, placeOf)
  expandScalars(document, env, placeOf)
  const content = toValues(document, placeOf)
  if (content !== undefined && !isMapping(content)) throw bad(`${placeOf(0)}: expected keys and values`)
  return { raw: content ?? {}, place: (path) => placeOf(offsetOf(document, path)) }
}

function bad(message: string): UsageError {
  return new UsageError('bad-configuration', `Cannot read the configuration: ${message}`)
}

/** Reports unquoted patterns such as `*.tmp`, which YAML reads as references to values that do not exist. */
function refuseUnresolved(document: YamlDocument, placeOf: (offset: number) => string): void {
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document) === undefined)
        throw bad(`${placeOf(node.range?.[0] ?? 0)}: not valid YAML: ${BAD_STAR}`)
    },
  })
}

/** Throws for values that contain themselves, or whose references multiply beyond a limit. */
function toValues(document: YamlDocument, placeOf: (offset: number) => string): unknown {
  try {
    return withoutNulls(document.toJS({ maxAliasCount: 100 }))
  } catch {
    throw bad(`${placeOf(0)}: ${describeYamlError(undefined, 1)}`)
  }
}

function expandScalars(document: YamlDocument, env: Environment, placeOf: (offset: number) => string): void {
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return
      node.value = expandVariables(node.value, env, (name) => {
        const ways = `set it, or write \${${name}:-default}`
        throw bad(`${placeOf(node.range?.[0] ?? 0)}: the variable ${name} is not set; ${ways}`)
      })
    },
  })
}

/** Treats a key without a value (`ignore:`) as absent. */
function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMapping(value)) return value
  const kept = Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]]))
  return Object.fromEntries(kept)
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
