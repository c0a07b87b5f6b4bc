import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether a program can be run here. */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => isExecutable(join(directory, program)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Peers must not find anybody's configuration. */
export const RCLONE = ['rclone', '--config', '/dev/null', '--quiet'] as const
