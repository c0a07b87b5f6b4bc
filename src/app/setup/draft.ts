import { dirname } from 'node:path'
import { ownUid } from '../../foundation/files/ownership.ts'
import { ownershipOf, type ReadTextFile, readTextFile, type TextFile } from '../files/private-file.ts'
import type { Surroundings } from '../settings/config-file/find-config-file.ts'
import { type ChosenConfig, renderConfig } from '../settings/config-file/render-config.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { Settings } from '../settings/settings.ts'

/** Files that are still to be written, so that a configuration is tried before anything is changed. */
export interface Draft {
  readonly configFile: string
  readonly configText: string
  /** Reads the drafted files as if they were there, and any other from the disk. */
  readonly readFile: ReadTextFile
  /** Reads the drafted configuration as the program will; throws UsageError. */
  readSettings(): Settings
}

export interface DraftInput {
  readonly configFile: string
  readonly chosen: ChosenConfig
  /** A token that is still to be written, and its file. */
  readonly token: { readonly file: string; readonly text: string } | undefined
  readonly stateDir: string | undefined
}

export function createDraft({ configFile, chosen, token, stateDir }: DraftInput, around: Surroundings): Draft {
  const configText = renderConfig(chosen)
  const readFile: ReadTextFile = (file) => {
    if (file === configFile) return asOwn(file, configText)
    return file === token?.file ? { ...asOwn(file, token.text), origin: 'what you typed' } : readTextFile(file)
  }
  const flags = { config: configFile, ...(stateDir !== undefined && { 'state-dir': stateDir }) }
  return { configFile, configText, readFile, readSettings: () => readSettings({ ...around, flags, readFile }) }
}

/** A file as shelfd will write it: nobody else can read it. */
function asOwn(file: string, text: string): TextFile {
  const owner = { uid: ownUid() ?? 0, gid: 0 }
  return {
    text,
    ownership: { ...owner, mode: 0o600 },
    directory: ownershipOf(dirname(file)) ?? { ...owner, mode: 0o700 },
  }
}
