/** Escapes text for an SQL string literal: for constants of the program, never for data. */
export function quoted(text: string): string {
  return text.replaceAll("'", "''")
}
