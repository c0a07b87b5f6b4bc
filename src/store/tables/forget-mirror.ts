import type Database from 'better-sqlite3'
import { onlyRow } from '../sql/only-row.ts'

/** The row ids of a mirror and its library. */
interface Forgotten {
  readonly id: number
  readonly libraryId: number
}

/** True when another mirror has a file, an earlier path or an upload of the content `c`. */
const IS_HELD = `(
  EXISTS (SELECT 1 FROM file f JOIN directory d ON d.id = f.directory_id WHERE f.content_id = c.id AND d.mirror_id <> @id)
  OR EXISTS (SELECT 1 FROM history fo WHERE fo.content_id = c.id AND fo.mirror_id <> @id)
  OR EXISTS (SELECT 1 FROM upload u WHERE u.content_id = c.id AND u.mirror_id <> @id))`

/** The id of another mirror that holds a content (IS_HELD). */
const otherHolder = (contentId: string) => `coalesce(
  (SELECT d.mirror_id FROM file f JOIN directory d ON d.id = f.directory_id
    WHERE f.content_id = ${contentId} AND d.mirror_id <> @id LIMIT 1),
  (SELECT fo.mirror_id FROM history fo WHERE fo.content_id = ${contentId} AND fo.mirror_id <> @id LIMIT 1),
  (SELECT u.mirror_id FROM upload u WHERE u.content_id = ${contentId} AND u.mirror_id <> @id LIMIT 1))`

/** Rows are deleted before the rows that they refer to. Contents that other mirrors hold pass to these. */
const STEPS = [
  `DELETE FROM upload WHERE content_id IN (SELECT c.id FROM content c WHERE c.library_id = @libraryId AND NOT ${IS_HELD})`,
  'DELETE FROM history WHERE mirror_id = @id',
  'DELETE FROM file WHERE directory_id IN (SELECT id FROM directory WHERE mirror_id = @id)',
  'DELETE FROM directory WHERE mirror_id = @id',
  'DELETE FROM problem WHERE mirror_id = @id',
  'DELETE FROM unconfirmed WHERE mirror_id = @id',
  `UPDATE content SET mirror_id = ${otherHolder('content.id')} WHERE mirror_id = @id`,
  `DELETE FROM content AS c WHERE c.library_id = @libraryId AND NOT ${IS_HELD}`,
  `UPDATE upload SET mirror_id = ${otherHolder('upload.content_id')} WHERE mirror_id = @id`,
  'DELETE FROM mirror WHERE id = @id',
  'DELETE FROM untracked WHERE library_id = @libraryId AND NOT EXISTS (SELECT 1 FROM mirror m WHERE m.library_id = @libraryId)',
  `DELETE FROM library WHERE id = @libraryId
     AND NOT EXISTS (SELECT 1 FROM mirror m WHERE m.library_id = library.id)`,
]

/** What forgetting a mirror loses: its present files, and the resources that no other mirror of the store holds. */
export interface MirrorHoldings {
  readonly files: number
  readonly resources: number
}

/** Queries to forget a mirror, and to count what that loses. */
export function prepareForgetting(database: Database.Database) {
  const steps = STEPS.map((sql) => database.prepare<[Forgotten]>(sql))
  const files = database
    .prepare<[Forgotten], number>(
      'SELECT count(*) FROM file f JOIN directory d ON d.id = f.directory_id WHERE d.mirror_id = @id',
    )
    .pluck()
  const resources = database
    .prepare<[Forgotten], number>(
      `SELECT count(*) FROM content c WHERE c.library_id = @libraryId AND c.state = 'stored' AND NOT ${IS_HELD}`,
    )
    .pluck()
  return {
    countHoldings: (mirror: Forgotten): MirrorHoldings => ({
      files: onlyRow(files.get(mirror)),
      resources: onlyRow(resources.get(mirror)),
    }),
    /** Removes the mirror with all rows that no other mirror holds; call it inside a write. */
    forget: (mirror: Forgotten): void => {
      for (const step of steps) step.run(mirror)
    },
  }
}
