/** Parses a JSON array of strings from our own database. */
export function stringList(json: string): string[] {
  const list: unknown = JSON.parse(json)
  return Array.isArray(list) ? list.map(String) : []
}
