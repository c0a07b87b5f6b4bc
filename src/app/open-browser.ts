import { startProgram } from '../foundation/run-program.ts'
import type { Environment } from './settings/overrides.ts'

/** Shows an address in the user's browser; false where there is no graphical session, or no program that does it. */
export async function openBrowser(url: string, env: Environment): Promise<boolean> {
  switch (process.platform) {
    case 'darwin':
      return await startProgram({ program: 'open', args: [url], env })
    case 'win32':
      return await startProgram({ program: 'rundll32', args: ['url.dll,FileProtocolHandler', url], env })
    default:
      if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return false
      return await startProgram({ program: 'xdg-open', args: [url], env })
  }
}
