import { basename, resolve } from 'node:path'
import { findDocumentFolders } from '../../../../app/files/document-folders.ts'
import { realPathOf } from '../../../../app/files/real-path.ts'
import { expandHome } from '../../../../app/settings/config-file/find-config-file.ts'
import type { ChosenMirror } from '../../../../app/settings/config-file/render-config.ts'
import { HeldBackError, messageOf } from '../../../../foundation/errors.ts'
import { counted } from '../../../../foundation/text/safe-text.ts'
import { nodeFileSystem } from '../../../../local/read/file-system.ts'
import { inspectRoot } from '../../../../local/read/inspect-root.ts'
import { describeBroadRoot } from '../../../../rules/mirror-roots.ts'
import { freeName } from '../../../../rules/mirrors.ts'
import { shownPath, type Wizard } from './wizard.ts'

/** Asks which directories are mirrored; throws RootError for one that cannot be read. */
export async function chooseDirectories(wizard: Wizard): Promise<string[]> {
  const { flags, context } = wizard
  const { cwd, home } = context.io
  const given = flags.directories.length > 0 ? flags.directories : await askDirectories(wizard)
  const paths = [...new Set(given.map((word) => realPathOf(cwd, expandHome(word, home))))]
  for (const path of paths) await assertUsable(wizard, path)
  return paths
}

async function askDirectories(wizard: Wizard): Promise<string[]> {
  const { prompts, context } = wizard
  const { cwd, home } = context.io
  if (!prompts) return []
  const found = findDocumentFolders(home)
  const choices = found.map(({ path, documents }) => ({
    value: path,
    label: shownPath(wizard, path),
    hint: counted(documents, 'document'),
  }))
  const chosen =
    found.length === 0 ? [] : await prompts.chooseSeveral('Which directories? (none to type one)', choices, [])
  if (chosen.length > 0) return chosen
  const typed = await prompts.askText('Directory to mirror', {
    placeholder: '~/Papers',
    validate: (text) => describeUnreadable(resolve(cwd, expandHome(text, home))),
  })
  return [typed]
}

/** Why a directory cannot be mirrored, in words; undefined when it can. */
function describeUnreadable(path: string): string | undefined {
  try {
    inspectRoot(nodeFileSystem, path)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

async function assertUsable({ prompts, context }: Wizard, path: string): Promise<void> {
  inspectRoot(nodeFileSystem, path)
  const breadth = describeBroadRoot(path, realPathOf('/', context.io.home))
  if (breadth === undefined) return
  const isMeant = await prompts?.confirm(`Mirroring "${path}" sends ${breadth}. Is that meant?`, false)
  if (isMeant) return
  throw new HeldBackError('confirmation-needed', `"${path}" is not mirrored: it holds ${breadth}`)
}

/** One mirror for each directory, with names and remote paths that differ; without a library each has its own. */
export function toMirrors(paths: readonly string[], library: string | undefined): ChosenMirror[] {
  const mirrors: ChosenMirror[] = []
  for (const path of paths) {
    const name = freeName(basename(path) || 'root', (taken) => mirrors.some((mirror) => mirror.name === taken))
    mirrors.push({ name, path, library: library ?? name, remotePath: `/${name}` })
  }
  return mirrors
}
