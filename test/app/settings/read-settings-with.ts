import type { SettingFlags } from '../../../src/app/settings/overrides.ts'
import { readSettings } from '../../../src/app/settings/read-settings.ts'
import type { Settings } from '../../../src/app/settings/settings.ts'

export interface SettingsCase {
  readonly yaml?: string
  readonly flags?: SettingFlags & { config?: string }
  readonly env?: Record<string, string>
  readonly mode?: number
}

export const CONFIG = '/home/ada/.config/shelfd/config.yaml'

/** Settings of a made-up home directory whose configuration file is `yaml`. */
export function readSettingsWith({ yaml, flags = {}, env = {}, mode = 0o644 }: SettingsCase = {}): Settings {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const file = { ownership: { ...owner, mode }, directory: { ...owner, mode: 0o700 } }
  const readFile = (path: string) => (path === CONFIG && yaml !== undefined ? { text: yaml, ...file } : undefined)
  return readSettings({ flags, env, cwd: '/home/ada/notes', home: '/home/ada', readFile })
}

/** The message of the error that reading these settings throws. */
export function settingsProblem(given: SettingsCase): string {
  try {
    readSettingsWith(given)
  } catch (error) {
    return String(error)
  }
  throw new Error('The settings were accepted')
}
