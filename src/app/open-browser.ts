import { startProgram } from '../foundation/run-program.ts'
import type { Environment } from './settings/overrides.ts'

/** False without a graphical session or a program for it. */
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
