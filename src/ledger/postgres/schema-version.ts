/** The number of the last file in migrations/. */
export const SCHEMA = 1
