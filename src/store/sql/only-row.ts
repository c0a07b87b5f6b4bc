/** Returns the row of a query that always has one, such as a count or an inserted row; throws without it. */
export function onlyRow<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('A query that always has a row has none')
  return row
}
