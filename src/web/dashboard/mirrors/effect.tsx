import type { RulesEffect } from '../../../contract/mirror-edits.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { counted, formatNumber } from '../../common/format.ts'

/** What was found in a directory by rules that are not in force yet. */
export function Effect({ found, isNew }: { readonly found: RulesEffect; readonly isNew: boolean }) {
  const { files, bytes, leaving, coming, isWhole } = found
  const all = `${counted(files, 'file')}, ${formatSize(bytes)}`
  const isSame = leaving.count + coming.count === 0
  return (
    <div class="effect" role="status">
      {!isWhole && <p class="state warning">The directory is large: these are the files of its first part alone.</p>}
      {leaving.count > 0 && <p class="state warning">{counted(leaving.count, 'file')} would be left out:</p>}
      <Names {...leaving} />
      {leaving.count > 0 && (
        <p class="quiet">
          Nothing is deleted: what was sent stays in the library, and searches there still find it. Changes of these
          files would no longer be sent.
        </p>
      )}
      {coming.count > 0 && <p>{counted(coming.count, 'file')} would be sent, left out now:</p>}
      <Names {...coming} />
      <p class="quiet">
        {isNew
          ? `The first run finds ${all}.`
          : isSame
            ? `The same files as now: ${all}.`
            : `All that is mirrored: ${all}.`}
      </p>
    </div>
  )
}

function Names({ count, first }: { readonly count: number; readonly first: readonly string[] }) {
  if (count === 0) return null
  return (
    <ul class="names">
      {first.map((name) => (
        <li key={name}>{name}</li>
      ))}
      {count > first.length && <li class="quiet">and {formatNumber(count - first.length)} more</li>}
    </ul>
  )
}
