export type Raw = { readonly [key: string]: unknown }

export function isMapping(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lays `high` over `low`: mappings are merged, anything else is replaced. */
export function layOver(low: Raw, high: Raw): Raw {
  const merged = new Map(Object.entries(low))
  for (const [key, value] of Object.entries(high)) {
    const below = merged.get(key)
    merged.set(key, isMapping(below) && isMapping(value) ? layOver(below, value) : value)
  }
  return Object.fromEntries(merged)
}

export function nest(path: readonly string[], value: unknown): Raw {
  const [first = '', ...rest] = path
  return { [first]: rest.length === 0 ? value : nest(rest, value) }
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  const [first, ...rest] = path
  if (first === undefined) return value
  if (Array.isArray(value)) return valueAt(value[Number(first)], rest)
  return isMapping(value) ? valueAt(value[String(first)], rest) : undefined
}
