import type { Problems } from '../../contract/dashboard.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { listQuarantine } from '../quarantine.ts'

const MOST_CONTENTS = 200
const MOST_FILES = 5
const MOST_PATHS = 200

/** Contents that failed, and paths that could not be read; those that were set aside last. */
export function readProblems(store: StoreReader | undefined): Problems {
  if (!store) return { contents: [], moreContents: 0, paths: [], morePaths: 0 }
  const contents = listQuarantine(store).sort((a, b) => Number(a.isSetAside) - Number(b.isSetAside))
  const paths = store.mirrors.list().flatMap(({ id, name: mirror }) => {
    return store.problems.list(id).map(({ path, code, message }) => ({ mirror, path, code, message }))
  })
  return {
    contents: contents.slice(0, MOST_CONTENTS).map(({ files, sha256: _, mime: __, sizeBytes: ___, ...content }) => ({
      ...content,
      files: files.slice(0, MOST_FILES).map(({ mirror, path }) => ({ mirror, path })),
    })),
    moreContents: Math.max(0, contents.length - MOST_CONTENTS),
    paths: paths.slice(0, MOST_PATHS),
    morePaths: Math.max(0, paths.length - MOST_PATHS),
  }
}
