/** The row of a query that always has one: a count, a sum, what was just inserted, what others refer to. */
export function onlyRow<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('A query that always has a row has none')
  return row
}
