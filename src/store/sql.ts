/** Returns the row of a query that always has one; throws if there is none. */
export function onlyRow<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('A query that always has a row has none')
  return row
}

export const FILE_PATH = `iif(d.path = '', f.name, d.path || '/' || f.name)`

/** Whether the mirror `?` has a file of the content `c`. */
export const HAS_FILE = `EXISTS
    (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id WHERE f.content_id = c.id AND d.mirror_id = ?)`

export const NO_PROBLEM = 'problem_code = NULL, problem_message = NULL, retry_at = NULL, problem_count = 0'

/** Escapes a constant of the program; data goes into statements as parameters only. */
export function quoted(text: string): string {
  return text.replaceAll("'", "''")
}
