/** Parses a JSON array of strings that our own database holds. */
export function stringList(json: string): string[] {
  const list: unknown = JSON.parse(json)
  return Array.isArray(list) ? list.map(String) : []
}
