import { startProgram } from '../foundation/run-program.ts'
import type { Environment } from './settings/overrides.ts'

/** Opens an address or an absolute path with the user's program for it. Returns false without such a program or a graphical session. */
export async function openWithSystem(target: string, env: Environment): Promise<boolean> {
  switch (process.platform) {
    case 'darwin':
      return await startProgram({ program: 'open', args: [target], env })
    case 'win32':
      return await startProgram({ program: 'rundll32', args: ['url.dll,FileProtocolHandler', target], env })
    default:
      if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return false
      return await startProgram({ program: 'xdg-open', args: [target], env })
  }
}
