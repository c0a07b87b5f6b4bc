/** What goes into `share` of an installation: the manual and completions. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { renderCompletionScript } from '../../src/cli/commands/completion.ts'
import { renderManPages } from '../man/man-pages.ts'

/** Where shells look for completions of installed programs. */
const COMPLETIONS = {
  bash: 'bash-completion/completions/shelfd',
  zsh: 'zsh/vendor-completions/_shelfd',
  fish: 'fish/vendor_completions.d/shelfd.fish',
} as const

export async function writeSharedFiles(share: string): Promise<void> {
  const put = (name: string, content: string | Uint8Array) => writeInto(share, name, content)
  for (const { name, text } of await renderManPages()) {
    put(`man/man${name.at(-1)}/${name}.gz`, gzipSync(text, { level: 9 }))
  }
  for (const shell of ['bash', 'zsh', 'fish'] as const) put(COMPLETIONS[shell], renderCompletionScript(shell))
}

/** Writes a file with the directories that lead to it. */
export function writeInto(directory: string, name: string, content: string | Uint8Array): void {
  const file = join(directory, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
