import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isShared } from '../../local/read/bounded-file-system.ts'

const DOCUMENT = /\.(?:pdf|md|markdown|txt|rtf|docx?|odt|pptx?|odp|xlsx?|ods|csv|html?|epub|tex|org)$/i
const MAX_ENTRIES = 2_000
const MAX_FOLDERS = 12
const DEPTH = 3

/** Returns the folders of the home that have most documents, without hidden ones and links. Reads at most MAX_ENTRIES entries of each. */
export function findDocumentFolders(home: string) {
  return listEntries(home)
    .filter((entry) => isShownDirectory(entry))
    .map(({ name }) => {
      const path = join(home, name)
      return { path, documents: countDocuments(path, DEPTH, { entries: MAX_ENTRIES }) }
    })
    .filter(({ documents }) => documents > 0)
    .sort((one, other) => other.documents - one.documents || one.path.localeCompare(other.path, 'en'))
    .slice(0, MAX_FOLDERS)
}

function countDocuments(directory: string, depth: number, budget: { entries: number }): number {
  let documents = 0
  for (const entry of listEntries(directory)) {
    if (budget.entries <= 0) break
    budget.entries -= 1
    if (entry.isFile() && DOCUMENT.test(entry.name)) documents += 1
    else if (depth > 1 && isShownDirectory(entry)) {
      documents += countDocuments(join(directory, entry.name), depth - 1, budget)
    }
  }
  return documents
}

function isShownDirectory(entry: Dirent): boolean {
  return entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules'
}

/** Returns no entries of an unreadable directory, or of a mount that may not answer. */
function listEntries(directory: string): Dirent[] {
  try {
    return isShared(directory) ? [] : readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}
